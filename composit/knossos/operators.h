// What Python's and NumPy's operators mean on values: kinds, promotion, truth.
//
//   Operators operators(DType::float64);
//   operators.binary("+", 1, x) is x + 1.0 for a float x; operators.binary("+", 1, 2) is 3
#pragma once

#include "composit/knossos/value.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::knossos {

// What an operator or a function gives of numbers that are known. Binary operators are called "+",
// those of elements of NumPy's arrays "numpy.+", functions "numpy.maximum".
using KnownFunction =
    std::function<Value(const std::string& name, const std::vector<Value>& numbers)>;
// Computes in int64 and double. Mismatch where these do not hold the result, or there is none.
Value known_in_machine_numbers(const std::string& name, const std::vector<Value>& numbers);

// A number that is known, as a float; nothing for others. OverflowError beyond the floats.
std::optional<double> known_float(const Value& value);

struct Promoted {
    Expr a, b;
    Kind kind;
};

// Operators in one floating dtype.
class Operators {
  public:
    explicit Operators(DType dtype, bool has_arrays = false,
                       KnownFunction known = known_in_machine_numbers);

    DType dtype_of(Kind kind) const;
    // A number as an expression of a kind that holds it.
    Expr cast(const Value& value, Kind kind) const;
    // Both as expressions of the larger kind.
    Promoted promoted(const Value& a, const Value& b, Kind least = Kind::integer) const;
    // A bool: whether the number is not zero.
    Value truth(const Value& value) const;
    Value binary(std::string_view symbol, const Value& a, const Value& b) const;
    // NumPy's operator of elements of arrays, whose sums and products of bools are bools.
    Value of_elements(std::string_view symbol, const Value& a, const Value& b) const;
    Value of_element(std::string_view symbol, const Value& value) const;
    Value power(const Value& a, const Value& b) const;
    Value unary(std::string_view symbol, const Value& value) const;
    Value compare(std::string_view symbol, const Value& a, const Value& b) const;
    // a and b (or, with Op::bit_or, a or b), of bools.
    Value both(const Value& a, const Value& b, Op operation = Op::bit_and) const;
    // a if condition else b
    Value select(const Value& condition, const Value& a, const Value& b) const;
    // What a function gives of numbers that are known.
    Value of_numbers(const std::string& name, const std::vector<Value>& numbers) const;

    DType dtype;
    bool has_arrays;  // whether bools may be NumPy's

  private:
    KnownFunction known_;
};

// The row of the table, of expressions.
Expr call_row(std::string_view name, std::vector<Expr> operands);

}  // namespace composit::knossos
