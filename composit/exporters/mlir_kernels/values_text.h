// Expressions as operations of MLIR.
#pragma once

#include "composit/exporters/mlir_kernels/function_text.h"
#include "composit/ir/scalar/expr.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::mlir {

// A variable's value, as it is said at a place of the text. An integer may be known as an i64, as
// an index, or as both.
struct Held {
    std::string plain, index;

    bool is_unset() const { return plain.empty() && index.empty(); }
};
using HeldValues = std::vector<Held>;

// What a variable without a value holds: 0.
std::string held_as_plain(FunctionText& out, Held& held, ir::DType dtype);

// The expressions of one statement: what they share is written once.
class ValuesText {
  public:
    // `arguments`: what argument i is. They learn under which names else they are known.
    ValuesText(FunctionText& out, HeldValues& arguments) : out_(out), arguments_(arguments) {}

    // The name of the value, `wanted` if an operation is written for it.
    std::string plain(const ir::scalar::Expr& expr, std::string_view wanted = "");
    // An int64 as an index.
    std::string index(const ir::scalar::Expr& expr, std::string_view wanted = "");
    // Whether that is less work: a sum of what is known as an index alone.
    bool is_of_indices(const ir::scalar::Expr& expr) const;

  private:
    using Expr = ir::scalar::Expr;
    // An expression, and whether it is wanted as an index.
    using Demand = std::pair<const ir::scalar::ExprNode*, bool>;
    struct Part {
        Expr expr;
        bool is_index;
    };

    std::string made(const Expr& expr, bool is_index, std::string_view wanted);
    std::string leaf(const Expr& expr, bool is_index);
    std::vector<Part> parts_of(const Part& part) const;
    std::string write(const Part& part, std::string_view wanted);
    std::string write_in_place(const Part& call, const std::vector<std::string>& operands,
                               std::string_view wanted);
    std::vector<std::string> write_loop(const Expr& loop, const std::vector<std::string>& initial);
    bool is_known_as_index(const Expr& expr) const;
    bool compares_indices(const Expr& expr) const;

    FunctionText& out_;
    HeldValues& arguments_;
    std::map<Demand, std::string> made_;
    std::vector<Expr> kept_;  // whose nodes are keys
    std::map<ir::scalar::LoopRun, std::vector<std::string>> runs_;
};

}  // namespace composit::mlir
