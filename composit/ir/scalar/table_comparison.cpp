// The table's comparisons, tests and logic: everything that answers with a bool.
#include "composit/ir/scalar/table.h"

#include <limits>

namespace composit::ir::scalar {
namespace {

// Signed and unsigned 64-bit integers compare as numbers, though no dtype holds both.
Expr compare(Op op, const Expr& a, const Expr& b) {
    if (a.dtype() == b.dtype()) return Expr::make(op, {a, b});
    const bool signed_first = a.dtype() == DType::int64;
    const Expr is_negative = signed_first ? a < 0 : b < 0;
    const Expr otherwise =
        Expr::make(op, {Expr::cast(a, DType::uint64), Expr::cast(b, DType::uint64)});
    const bool holds_below = op == Op::not_equal || op == Op::less || op == Op::less_equal;
    const bool holds_above = op == Op::not_equal || op == Op::greater || op == Op::greater_equal;
    const bool holds_if_negative = signed_first ? holds_below : holds_above;
    return holds_if_negative ? is_negative | otherwise : ~is_negative & otherwise;
}

Expr answer(bool value) { return Expr::constant(DType::boolean, value); }
Expr infinity_like(const Expr& x) {
    return Expr::constant(x.dtype(), std::numeric_limits<double>::infinity());
}

Expr is_nan(const Expr& x) { return is_inexact(x.dtype()) ? not_equal(x, x) : answer(false); }
Expr is_inf(const Expr& x) {
    return is_inexact(x.dtype()) ? equal(absolute(x), infinity_like(x)) : answer(false);
}
Expr is_finite(const Expr& x) {
    return is_inexact(x.dtype()) ? absolute(x) < infinity_like(x) : answer(true);
}
Expr sign_bit(const Expr& x) { return Expr::bitcast(x, integer_like(x)) < 0; }

Row comparison_row(const char* name, const char* doc, Op op) {
    return {name, {},  2, types::comparison, {}, doc, [op](X x) { return compare(op, x[0], x[1]); },
            {},   true};
}

}  // namespace

std::vector<Row> comparison_rows() {
    using namespace types;
    return {
        comparison_row("equal", "x1 == x2", Op::equal),
        comparison_row("greater", "x1 > x2", Op::greater),
        comparison_row("greater_equal", "x1 >= x2", Op::greater_equal),
        {"isfinite",
         {},
         1,
         test,
         {},
         "neither infinite nor NaN",
         [](X x) { return is_finite(x[0]); },
         {},
         true},
        {"isinf", {}, 1, test, {}, "+inf or -inf", [](X x) { return is_inf(x[0]); }, {}, true},
        {"isnan", {}, 1, test, {}, "not a number", [](X x) { return is_nan(x[0]); }, {}, true},
        comparison_row("less", "x1 < x2", Op::less),
        comparison_row("less_equal", "x1 <= x2", Op::less_equal),
        {"logical_and",
         {},
         2,
         logical,
         {},
         "both are true (not 0)",
         [](X x) { return x[0] & x[1]; },
         {},
         true},
        {"logical_not", {}, 1, logical, {}, "it is false (0)", [](X x) { return ~x[0]; }, {}, true},
        {"logical_or",
         {},
         2,
         logical,
         {},
         "at least one is true (not 0)",
         [](X x) { return x[0] | x[1]; },
         {},
         true},
        {"logical_xor",
         {},
         2,
         logical,
         {},
         "exactly one is true (not 0)",
         [](X x) { return x[0] ^ x[1]; },
         {},
         true},
        comparison_row("not_equal", "x1 != x2", Op::not_equal),
        {"signbit",
         {},
         1,
         predicate,
         {},
         "the sign bit is set: -0 and some NaN, too",
         [](X x) { return sign_bit(x[0]); },
         {},
         true},
    };
}

}  // namespace composit::ir::scalar
