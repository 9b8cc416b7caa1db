// A scalar function of typed arguments: the body of a map, and what fusion composes.
#pragma once

#include "composit/ir/scalar/expr.h"

#include <memory>
#include <string>
#include <vector>

namespace composit::ir::scalar {

struct Function {
    std::string name;
    std::vector<std::string> parameter_names;  // may be empty: x0, x1, …
    std::vector<DType> parameters;
    std::vector<Expr> results;  // over arguments 0..parameters.size()-1
};

// One line per `let`, readable, parses by eye: used in printed graphs and plans.
//   (x: float32, y: float32) -> exp(add(x, y))
std::string print(const Expr& expr, const std::vector<std::string>& parameter_names = {});
std::string print(const Function& function);

// The meaning, slow and obvious: evaluates one element. Used for constants and as the reference of
// tests.
std::vector<Bits> evaluate(const std::vector<Expr>& results, const std::vector<Bits>& arguments);
// The same for who evaluates the same expressions again and again: their order is found once.
class Evaluator {
  public:
    explicit Evaluator(std::vector<Expr> results);
    std::vector<Bits> operator()(const std::vector<Bits>& arguments) const;

  private:
    struct Step {
        Expr expr;
        std::vector<size_t> operands;             // numbers of steps
        std::shared_ptr<const Evaluator> called;  // of a call
    };
    std::vector<Step> steps_;
    std::vector<size_t> results_;
};
Bits bits_of(DType dtype, double value);  // rounds
Bits bits_of_integer(DType dtype, int64_t value);
double value_of(DType dtype, Bits bits);  // real dtypes

// Bit-preserving simplification: constant folding, casts of casts that cannot matter, common
// subexpressions.
std::vector<Expr> simplify(const std::vector<Expr>& results);

}  // namespace composit::ir::scalar
