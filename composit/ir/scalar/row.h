// One row of the table: everything there is to say about one elementwise function.
//
// From a row follow the NumPy function, its C++ twin, bindings, gradient, vmap, every back end, the
// docs entry and the tests. Rows come from the tables (table_*.cpp) or are registered at run time,
// from C++ or Python.
#pragma once

#include "composit/ir/dtype.h"
#include "composit/ir/scalar/expr.h"
#include "composit/ir/scalar/row_memo.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace composit::ir::scalar {

// The dtypes in which a call is computed, and that of its result.
struct Signature {
    std::vector<DType> operands;
    DType result;
};

// Operand dtypes (Python scalars already made strong by NEP 50) -> signature. Throws TypeError,
// NumPy's words.
using TypeRule =
    std::function<Signature(std::string_view name, const std::vector<DType>& operands)>;

// A sampling interval for tests, one per operand (the last is repeated); finite, in the interior of
// the domain.
struct Interval {
    double low = -3;
    double high = 3;
};

// A complex value as two real ones of its part's dtype; a real value has no imaginary part.
struct ComplexExpr {
    Expr re, im;
};

// What a row means for complex operands, where splitting the operations of `value` (complex.h)
// would not do.
struct ComplexRules {
    // The operands -> the result, in parts.
    std::function<ComplexExpr(const std::vector<ComplexExpr>& x)> value = {};
    // As Row::pullback, over complex expressions, where operand or result is complex. By default
    // g * conjugate(slope), which holds for holomorphic functions.
    std::function<Expr(const std::vector<Expr>& x, const Expr& y, const Expr& g, int operand)>
        pullback = {};
};

// Which errors of floating point NumPy reports of a function, as far as operands and result do not
// say it: a NaN that no operand has is invalid, an infinity of finite operands an overflow.
struct Signals {
    struct Pole {
        int operand;
        double at;
    };
    std::vector<Pole> poles = {};  // where an infinity is a division by zero; so is, of integers,
                                   // the operand itself
    bool only_at_poles = false;    // is an infinity of finite operands to be found
    bool is_silent = false;        // NaN and infinities of its own are no errors
    bool refuses_nan = false;      // NaN among its operands are invalid: NumPy's compares them
    // A result below the normal numbers, of operands that are normal, was rounded.
    bool may_underflow = false;
    std::string reported_as = {};  // empty: the row's name
    std::string warning = {};      // what is said where its last operand, a bool, holds
};

struct Row {
    std::string name;  // NumPy's, or the field's where NumPy has none
    std::vector<std::string> aliases = {};
    int arity = 1;
    TypeRule types;
    std::vector<Interval> domain = {};  // where derivatives are tested
    std::string doc;  // one line: what it computes, and the source where there is one
    // Operands of the signature's dtypes -> result of the signature's dtype.
    std::function<Expr(const std::vector<Expr>& x)> value;
    // d result / d operand i, for inexact dtypes; `y` is the result. An empty Expr means zero.
    // Where `slopes` is missing, the derivative is derived from `value`.
    std::function<std::vector<Expr>(const std::vector<Expr>& x, const Expr& y)> slopes = {};
    // No derivative exists by nature (comparisons, floor, …): gradients through it are zero.
    bool is_piecewise_constant = false;
    // What operand `i` receives of `g`, the gradient of the result; by default slopes[i] * g. Given
    // where that product would be wrong: where, maximum and their like choose, and what is not
    // chosen contributes zero even if g is infinite or NaN: select(c, g, 0). An empty Expr means
    // zero. `slopes` agree with it: select(c, 1, 0).
    std::function<Expr(const std::vector<Expr>& x, const Expr& y, const Expr& g, int operand)>
        pullback = {};
    ComplexRules complex = {};
    // Asks for the neighbours of a float: in float32 a short float has others. Any other row
    // computes short floats in float32 and rounds the result.
    bool depends_on_dtype = false;
    Signals signals = {};
    RowMemo memo = {};  // filled by use
};

using RowRef = std::shared_ptr<const Row>;

// ----- the table. Append-only, thread-safe; references stay valid for the life of the process.
RowRef find_row(std::string_view name);  // by name or alias, or of a pullback; null if none
RowRef row(std::string_view name);  // the same; an unknown name is a KeyError listing near ones
// A row of the table, which no user replaces: for who asks once and keeps the reference.
const RowRef& table_row(std::string_view name);
std::vector<RowRef> all_rows();  // in table order, user rows last
// ValueError when name or alias is taken, unless the row is the user's own. Calls `value` and
// `slopes` once, and passes on what they throw.
RowRef register_row(Row row);
bool is_user_row(const Row& row);
uint64_t revision_of(
    const Row& row);  // 0 for the table's rows; counts the user's, so that none are confused

// The body of `row` for these operand dtypes over arguments 0..arity-1 (already of the signature's
// dtypes); cached.
struct Specialisation {
    RowRef row;
    Signature signature;
    Expr body;
    bool is_one_operation;  // the body is one argument, or one operation on arguments: printed and
                            // run in place
    std::string symbol;     // unique: "exp_float32", "power_float32", "where_bool_float32_float32"
};
const Specialisation& specialise(const RowRef& row, std::span<const DType> operands);
inline const Specialisation& specialise(const RowRef& row, std::initializer_list<DType> operands) {
    return specialise(row, std::span(operands.begin(), operands.size()));
}

// d result / d argument i of an expression, by the chain rule over its operations and calls; an
// empty Expr is zero. The derivative of a call is its row's slopes. TypeError when an operation on
// the way has no derivative.
std::vector<Expr> derive(const Expr& result, int argument_count);
// Slopes of a row at x (typed as the signature's operands) with result y: row.slopes, or derived
// from row.value.
std::vector<Expr> slopes_of(const RowRef& row, const std::vector<Expr>& x, const Expr& y);
// The contribution of a result's gradient g to operand `operand`, of its dtype: row.pullback, or
// slope * g. Empty: zero, which it is for integer and bool operands, too. Second derivatives: it is
// an expression like any other.
Expr pull_back(const RowRef& row, const std::vector<Expr>& x, const Expr& y, const Expr& g,
               int operand);

// pull_back as a row of its own, for gradients that no other rows can write:
// "pullback(digamma, float64, 0)" is that of operand 0 where digamma's operands are float64. Its
// operands are those of `row`, y and g, as far as it uses them, so that what is linear in g does
// not depend on it when it is derived. The same row for the same arguments; not among all_rows().
struct Pullback {
    RowRef row;             // null: zero
    std::vector<int> uses;  // which of x0, …, y, g
};
Pullback pullback_row(const RowRef& row, const std::vector<DType>& operands, int operand);

// Common type rules (types.cpp). Each finds the first dtype of a list, in NumPy's order, to which
// all operands cast safely, computes in it, and returns it or bool.
namespace types {
extern const TypeRule
    numeric;  // all dtypes but bool: negative, subtract, … (bool refused, NumPy's words)
extern const TypeRule arithmetic;  // all dtypes, bool computed as int8: square, power, reciprocal
extern const TypeRule real_arithmetic;  // the same without complex: floor_divide, remainder, fmod
extern const TypeRule real_or_bool;     // all real dtypes: floor, ceil, trunc
extern const TypeRule magnitude;        // all dtypes; complex gives its real part's dtype: absolute
extern const TypeRule of_parts;         // floating; gives the complex dtype of such parts
extern const TypeRule any;              // all dtypes: add, multiply (on bool: or, and), maximum, …
extern const TypeRule inexact;          // float16 … complex128; integers are promoted: exp, sin, …
extern const TypeRule floating;         // float16 … float64: floor, cbrt, arctan2, …
extern const TypeRule true_division;    // integers in float64
extern const TypeRule float_power;      // float64, complex128
extern const TypeRule integral;         // integers, bool computed as int8: left_shift
extern const TypeRule integer_only;     // integers, bool refused: gcd, lcm
extern const TypeRule integral_or_bool;  // bitwise
extern const TypeRule bit_count;         // integers (bool as int8) -> uint8
extern const TypeRule exponent;          // floating -> int32
extern const TypeRule load_exponent;     // ldexp: floating with int32 or int64
extern const TypeRule comparison;  // any -> bool; signed integers with uint64 stay (int64, uint64)
extern const TypeRule logical;     // any -> bool, operands cast to bool
extern const TypeRule predicate;   // floating -> bool: signbit
extern const TypeRule test;        // any -> bool, operands as they are: isnan, isinf, isfinite
extern const TypeRule choice;      // where: bool, T, T -> T
}  // namespace types

}  // namespace composit::ir::scalar
