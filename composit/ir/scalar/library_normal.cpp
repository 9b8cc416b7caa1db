// The quantile of the normal distribution.
//
// Near 1/2 it is sqrt(2 pi) q, q = p - 1/2, and elsewhere sqrt(2) s, s = sqrt(-log(p)), each with a
// smaller term that is a quotient of polynomials: in q^2, and in s in two pieces (the division of
// the domain is that of Wichura's AS 241, 1988).
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/library_coefficients.h"
#include "composit/ir/scalar/library_cores.h"

namespace composit::ir::scalar {
namespace {

using namespace parts;

constexpr double near_half = 0.425, near_half_squared = 0.180625;
constexpr double tail_start = 1.6, far_start = 5.0;

constexpr double root_two = 0x1.6a09e667f3bcdp+0;
constexpr double root_two_pi = 0x1.40d931ff62706p+1, root_two_pi_low = -0x1.a6a0d6f814637p-53;

struct Quotient {
    Expr above, below;
};

Quotient choose(const Expr& condition, const Quotient& a, const Quotient& b) {
    return {select(condition, a.above, b.above), select(condition, a.below, b.below)};
}

Expr ndtri_of_float64(const Expr& p) {
    using namespace coefficients;
    // Both differences are exact where they are used.
    const Expr q = (p - 0.5).named("q");
    const Expr tail = select(p > 0.5, 1.0 - p, p).named("tail");
    const Expr r = fma(-q, q, near_half_squared).named("r");
    const Expr s = square_root(-log_of(tail)).named("s");
    const Expr near_tail = s - tail_start;
    const Expr far_tail = s - far_start;
    const Quotient middle{polynomial(r, normal_quantile_near_above),
                          polynomial(r, normal_quantile_near_below)};
    const Quotient outside = choose(s <= far_start,
                                    {polynomial(near_tail, normal_quantile_tail_above),
                                     polynomial(near_tail, normal_quantile_tail_below)},
                                    {polynomial(far_tail, normal_quantile_far_above),
                                     polynomial(far_tail, normal_quantile_far_below)});
    const Expr is_near = absolute(q) <= near_half;
    const Quotient chosen = choose(is_near, middle, outside);
    const Expr ratio = (chosen.above / chosen.below).named("ratio");
    const Expr magnitude = select(equal(tail, 0.0), infinity, fma(s, root_two, -ratio));
    const Expr near = fma(q, root_two_pi, q * fma(q * q, ratio, root_two_pi_low));
    return select(is_near, near, copysign(magnitude, q));
}

}  // namespace

Expr ndtri_of(const Expr& x) {
    require_float("ndtri", x);
    return Expr::cast(ndtri_of_float64(to_float64(x)), x.dtype());
}

}  // namespace composit::ir::scalar
