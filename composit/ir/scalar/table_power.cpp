// The table's powers.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_parts.h"
#include "composit/ir/scalar/table.h"

#include <limits>

namespace composit::ir::scalar {
namespace {

// x to the power n for integers, modulo 2^width: one squaring for each bit of n. To a negative
// power only 1 and -1 have an integer to give; the rest give 0. (NumPy refuses negative powers by
// their value.)
Expr integer_power(const Expr& x, const Expr& n) {
    const bool is_signed = is_signed_integer(n.dtype());
    const int bits = 8 * size_of(n.dtype()) - is_signed;
    Expr result = one_like(x);
    Expr square = x;
    for (int i = 0; i < bits; ++i) {
        const Expr is_set = not_equal(n & Expr::constant_integer(n.dtype(), int64_t{1} << i), 0);
        result = select(is_set, result * square, result);
        if (i + 1 < bits) square = square * square;
    }
    if (!is_signed) return result;
    const Expr is_odd = not_equal(n & one_like(n), 0);
    const Expr inverse =
        select(equal(x, 1), x, select(equal(x, -1), select(is_odd, x, 1.0), zero_like(x)));
    return select(n < 0, inverse, result);
}

Expr power(const Expr& x, const Expr& n) {
    return is_integer(x.dtype()) ? integer_power(x, n) : in_library(power_of, x, n);
}

// x^3, rounded but once in effect: the part of x^2 that its rounding loses is carried along.
Expr cube(const Expr& x) {
    if (!is_float(x)) return x * x * x;
    const Expr square = (x * x).named("square");
    // From this square on cubes are infinite. What is lost of a larger one, times x, would be
    // infinite with any sign; what the square has beyond it has the sign of x.
    const double greatest = x.dtype() == ir::DType::float32 ? 0x1p86 : 0x1p684;
    return fma(square, x, fma(x, x, -parts::at_most(square, greatest)) * x);
}

// x^4, rounded but once in effect, as x^3 is.
Expr fourth(const Expr& x) {
    const Expr square = (x * x).named("square");
    const Expr lost = fma(x, x, -square).named("lost");
    const Expr rough = (square * square).named("rough");
    // Where it is infinite, what is lost has no meaning.
    return select(rough < std::numeric_limits<double>::infinity(),
                  fma(square, square, square * (lost + lost)), rough);
}

// x^1.5: the root, and one product. -inf has the power that IEEE 754 gives it, though it has no
// root.
Expr three_halves(const Expr& x) {
    const double infinity = std::numeric_limits<double>::infinity();
    const Expr all = Expr::constant(x.dtype(), infinity);
    return select(equal(x, -infinity), all, x * Expr::make(Op::square_root, {x}));
}

// 0 where the power is 0, even of infinity.
Expr slope_in_base(const Expr& x, const Expr& n) {
    return select(equal(n, 0), 0.0, n * call("power", {x, n - 1.0}));
}

// x^n log(x), but 0 where x is 0 and its powers stay 0.
Expr slope_in_exponent(const Expr& x, const Expr& n, const Expr& y) {
    return select(equal(x, 0) & (n >= 0), 0.0, y * call("log", {x}));
}

Exprs slopes_of_power(X x, Y y) {
    return {slope_in_base(x[0], x[1]), slope_in_exponent(x[0], x[1], y)};
}

}  // namespace

std::vector<Row> power_rows() {
    using namespace types;
    return {
        library_row("cbrt", {}, floating, {0.5, 3}, "the cube root", cbrt_of,
                    [](Y, Y y) { return 1.0 / (3.0 * y * y); }),
        {"cube",
         {},
         1,
         arithmetic,
         {{-2, 2}},
         "x^3, as x**3 with a literal 3 computes it; integers wrap",
         [](X x) { return in_library(cube, x[0]); },
         [](X x, Y) { return Exprs{3.0 * (x[0] * x[0])}; }},
        {"float_power",
         {},
         2,
         float_power,
         {{0.5, 2}, {-2, 2}},
         "x1^x2 in float64",
         [](X x) { return power(x[0], x[1]); },
         slopes_of_power},
        {"fourth",
         {},
         1,
         floating,
         {{-2, 2}},
         "x^4, as x**4 with a literal 4 computes it in kernels",
         [](X x) { return in_library(fourth, x[0]); },
         [](X x, Y) { return Exprs{4.0 * call("cube", {x[0]})}; }},
        {"hypot",
         {},
         2,
         floating,
         {{0.5, 3}},
         "sqrt(x1^2 + x2^2), without overflow on the way",
         [](X x) { return in_library(hypot_of, x[0], x[1]); },
         [](X x, Y y) {  // of the norm of zeros: 0
             const Expr length = select(equal(y, 0), 1.0, y);
             return Exprs{x[0] / length, x[1] / length};
         }},
        {"power",
         {"pow"},
         2,
         arithmetic,
         {{0.5, 2}, {-2, 2}},
         "x1^x2; integers wrap, and to negative powers give 0 unless they are 1 or -1",
         [](X x) { return power(x[0], x[1]); },
         slopes_of_power},
        {"three_halves",
         {},
         1,
         floating,
         {{0.5, 2}},
         "x^1.5, as x**1.5 with a literal 1.5 computes it in kernels",
         [](X x) { return in_library(three_halves, x[0]); },
         [](X x, Y) { return Exprs{1.5 * call("sqrt", {x[0]})}; }},
    };
}

}  // namespace composit::ir::scalar
