// The table's choices: maximum, minimum, clip, where, relu. Operands that are not chosen receive no
// gradient at all.
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {
namespace {

// On equal operands, zeros of both signs among them, the first one is returned; so it is when it is
// NaN, as no comparison with it holds. In this form processors have an instruction for the inner
// choice, and g++ 12 vectorises chains of them, provided that it is written in a line of its own.
Expr second_if_nan(const Expr& b, const Expr& otherwise) {
    return is_float(b) ? select(not_equal(b, b), b, otherwise) : otherwise;
}

Expr maximum(const Expr& a, const Expr& b) {
    return is_bool(a) ? a | b : second_if_nan(b, select(b > a, b, a).named("larger"));
}
Expr minimum(const Expr& a, const Expr& b) {
    return is_bool(a) ? a & b : second_if_nan(b, select(b < a, b, a).named("smaller"));
}

Expr first_is_fmax(const Expr& a, const Expr& b) {
    return is_float(a) ? (a >= b) | not_equal(b, b) : a >= b;
}
Expr first_is_fmin(const Expr& a, const Expr& b) {
    return is_float(a) ? (a <= b) | not_equal(b, b) : a <= b;
}

// `g` where `mask`, else zero.
Expr masked(const Expr& mask, const Expr& g) { return select(mask, g, 0.0); }

// Equal operands share; a NaN takes part in neither comparison, and both operands receive all.
Expr pull_back_extremum(const Expr& loses, X x, Y g) {
    return select(equal(x[0], x[1]), 0.5 * g, select(loses, 0.0, g));
}
Expr pull_back_maximum(X x, Y, Y g, int i) {
    return pull_back_extremum(i == 0 ? x[0] < x[1] : x[1] < x[0], x, g);
}
Expr pull_back_minimum(X x, Y, Y g, int i) {
    return pull_back_extremum(i == 0 ? x[0] > x[1] : x[1] > x[0], x, g);
}
Expr pull_back_fmax(X x, Y, Y g, int i) {
    const Expr first = first_is_fmax(x[0], x[1]);
    return masked(i == 0 ? first : ~first, g);
}
Expr pull_back_fmin(X x, Y, Y g, int i) {
    const Expr first = first_is_fmin(x[0], x[1]);
    return masked(i == 0 ? first : ~first, g);
}
Expr pull_back_clip(X x, Y, Y g, int i) {
    const Expr& low = x[1];
    const Expr& high = x[2];
    if (i == 0) return masked((x[0] >= low) & (x[0] <= high), g);
    if (i == 1) return masked((x[0] < low) & (low < high), g);
    return masked((x[0] > high) | (high < low), g);
}
Expr pull_back_where(X x, Y, Y g, int i) {
    if (i == 0) return Expr();
    return i == 1 ? select(x[0], g, 0.0) : select(x[0], 0.0, g);
}
// By the result, which is positive where the operand is: then nobody keeps the operand.
Expr pull_back_relu(X, Y y, Y g, int) { return select(y <= 0, 0.0, g); }

using PullBack = Expr (*)(X x, Y y, Y g, int operand);

// The row of a choice: its slopes are what it gives of 1.
Row choice_row(const char* name, int arity, const TypeRule& types, const char* doc,
               std::function<Expr(X)> value, PullBack pull) {
    auto slopes = [arity, pull](X x, Y y) {
        Exprs out;
        for (int i = 0; i < arity; ++i) out.push_back(pull(x, y, one_like(y), i));
        return out;
    };
    const Interval away_from_0{0.5, 3};
    return {name, {}, arity, types, {away_from_0}, doc, std::move(value), slopes, false, pull};
}

}  // namespace

std::vector<Row> extremum_rows() {
    using namespace types;
    return {
        choice_row(
            "clip", 3, any, "minimum(maximum(x, low), high)",
            [](X x) { return minimum(maximum(x[0], x[1]), x[2]); }, pull_back_clip),
        choice_row(
            "fmax", 2, any, "the larger; of a number and NaN the number; of equals the first",
            [](X x) {
                return is_bool(x[0]) ? x[0] | x[1] : select(first_is_fmax(x[0], x[1]), x[0], x[1]);
            },
            pull_back_fmax),
        choice_row(
            "fmin", 2, any, "the smaller; of a number and NaN the number; of equals the first",
            [](X x) {
                return is_bool(x[0]) ? x[0] & x[1] : select(first_is_fmin(x[0], x[1]), x[0], x[1]);
            },
            pull_back_fmin),
        choice_row(
            "maximum", 2, any, "the larger; NaN if either is; of equals (0 and -0, too) the first",
            [](X x) { return maximum(x[0], x[1]); }, pull_back_maximum),
        choice_row(
            "minimum", 2, any, "the smaller; NaN if either is; of equals (0 and -0, too) the first",
            [](X x) { return minimum(x[0], x[1]); }, pull_back_minimum),
        choice_row(
            "relu", 1, numeric, "x where x > 0, else +0; NaN stays",
            [](X x) { return select(x[0] <= 0, 0.0, x[0]); }, pull_back_relu),
        choice_row(
            "where", 3, choice, "x2 where x1 is true (not 0), else x3",
            [](X x) { return select(x[0], x[1], x[2]); }, pull_back_where),
    };
}

}  // namespace composit::ir::scalar
