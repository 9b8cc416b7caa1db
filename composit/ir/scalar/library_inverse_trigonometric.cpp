// arcsin, arccos, arctan and arctan2, from polynomials on |x| <= 1/2 and |t| <= tan(pi / 8).
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"

namespace composit::ir::scalar {
namespace {

using namespace parts;

constexpr double pi_high = 0x1.921fb54442d18p+1;
constexpr double pi_low = 0x1.1a62633145c07p-53;

// multiple * pi - x
Expr subtract_from_pi(double multiple, const Expr& x) {
    return multiple * pi_high - (x - multiple * pi_low);
}

// |x| beyond 1/2 becomes sqrt((1 - |x|) / 2): arcsin(|x|) is pi / 2 less twice the arcsin of that.
struct ArcsinParts {
    Expr is_large;
    Expr value;  // of whichever it is, of |x|
};

ArcsinParts arcsin_parts(const Expr& a) {
    const Expr is_large = a > 0.5;
    const Expr z = select(is_large, fma(a, -0.5, 0.5), a * a).named("z");
    const Expr t = select(is_large, square_root(z), a).named("t");
    return {is_large, fma(t * z, polynomial(z, coefficients::arcsin_float64), t)};
}

// The angle of (x, y), or of (-x, y), for x and y positive or 0; not both infinite.
Expr angle_of(const Expr& y, const Expr& x, const Expr& is_left) {
    const Expr is_steep = y > x;
    const Expr larger = select(is_steep, y, x).named("larger");
    const Expr smaller = select(is_steep, x, y).named("smaller");
    // Beyond tan(pi / 8) the angle is pi / 4 less that of (larger + smaller, larger - smaller).
    const Expr is_middle = smaller > larger * 0x1.a827999fcef32p-2;
    const Expr numerator = select(is_middle, smaller - larger, smaller);
    const Expr denominator = select(is_middle, smaller + larger, larger);
    const Expr t = (numerator / denominator).named("t");
    const Expr z = t * t;
    const Expr small = fma(t * z, polynomial(z, coefficients::arctan_float64), t);
    const Expr angle = select(is_middle, 0.25 * pi_high + (small + 0.25 * pi_low), small);
    // From pi / 2, pi or 0, up or down.
    const Expr turned =
        select(is_steep, select(is_left, angle, -angle), select(is_left, -angle, angle));
    const auto offset = [&](double pi) {
        return select(is_steep, 0.5 * pi, select(is_left, constant_like(x, pi), 0.0));
    };
    return (offset(pi_high) + (turned + offset(pi_low))).named("result");
}

}  // namespace

Expr arcsin_of(const Expr& x) {
    require_float("arcsin", x);
    const Expr wide = to_float64(x);
    const auto [is_large, value] = arcsin_parts(absolute(wide));
    const Expr result = select(is_large, subtract_from_pi(0.5, value + value), value);
    return Expr::cast(copysign(result, wide), x.dtype());
}

Expr arccos_of(const Expr& x) {
    require_float("arccos", x);
    const Expr wide = to_float64(x);
    const auto [is_large, value] = arcsin_parts(absolute(wide));
    const Expr twice = value + value;
    const Expr large = select(wide < 0.0, subtract_from_pi(1.0, twice), twice);
    return Expr::cast(select(is_large, large, subtract_from_pi(0.5, copysign(value, wide))),
                      x.dtype());
}

Expr arctan_of(const Expr& x) {
    require_float("arctan", x);
    const Expr wide = to_float64(x);
    const Expr never = Expr::constant_integer(DType::boolean, 0);
    const Expr angle = angle_of(absolute(wide), constant_like(wide, 1.0), never);
    return Expr::cast(copysign(angle, wide), x.dtype());
}

Expr arctan2_of(const Expr& y, const Expr& x) {
    require_float("arctan2", y);
    const Expr wide_y = to_float64(y);
    const Expr wide_x = to_float64(x);
    const Expr a = absolute(wide_y);
    const Expr b = absolute(wide_x);
    // Two infinities make the angle of (1, 1), two zeros that of (1, 0).
    const Expr is_diagonal = equal(a, infinity) & equal(b, infinity);
    const Expr is_origin = equal(a, 0.0) & equal(b, 0.0);
    // Sums of huge operands would overflow; small ones may be subnormal, but their sums are exact.
    const Expr factor = select((a > 0x1p1000) | (b > 0x1p1000), constant_like(a, 0x1p-100), 1.0);
    const Expr safe_a = select(is_diagonal, 1.0, a * factor);
    const Expr safe_b = select(is_diagonal | is_origin, 1.0, b * factor);
    const Expr is_left = copysign(constant_like(wide_x, 1.0), wide_x) < 0.0;
    const Expr result = copysign(angle_of(safe_a, safe_b, is_left), wide_y);
    const Expr is_nan = not_equal(x, x) | not_equal(y, y);
    return select(is_nan, x + y, Expr::cast(result, y.dtype()));
}

}  // namespace composit::ir::scalar
