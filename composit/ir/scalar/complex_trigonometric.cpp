// Hyperbolic and trigonometric functions of complex numbers and their inverses, in parts; special
// values are C's (annex G).
//
// A trigonometric function is a hyperbolic one turned by a right angle: sin z = -i sinh(iz). The
// inverse sine and cosine follow Hull, Fairgrieve and Tang (ACM TOMS 23, 1997).
#include "composit/ir/scalar/complex_functions.h"
#include "composit/ir/scalar/table.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace composit::ir::scalar::complex {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double pi = std::numbers::pi;

Expr is_infinite(const Expr& x) { return scalar::equal(absolute(x), infinity); }
Expr is_nan(const Expr& x) { return not_equal(x, x); }

Z times_i(const Z& z) { return {-z.im, z.re}; }
Z by_i(const Z& z) { return {z.im, -z.re}; }    // divided by i
Z swapped(const Z& z) { return {z.im, z.re}; }  // i times the conjugate

// e^|x| / 2 of a large |x| times a turn: it may overflow where the product does not.
Expr half_exponential(const Expr& x, const Expr& turn) {
    const Expr root = call("exp", {0.5 * absolute(x)});
    return (0.5 * root * turn) * root;
}

// A hyperbolic function of x times the sine or cosine of y. 0 stays 0, whatever the other is.
Expr turned(const Expr& size, const Expr& turn, const Expr& large) {
    const Expr is_zero = scalar::equal(turn, 0) | scalar::equal(size, 0);
    const Expr zero = signed_as(scalar::select(scalar::equal(turn, 0), turn, size),
                                signed_as(one_like(turn), size) * signed_as(one_like(turn), turn));
    return scalar::select(is_zero, zero, large);
}

struct Hyperbolic {
    Expr sinh_cos, cosh_sin, cosh_cos, sinh_sin;
};
Hyperbolic hyperbolic(const Z& z) {
    const Expr &x = z.re, &y = z.im;
    const Expr sine = call("sin", {y}), cosine = call("cos", {y});
    const Expr hyper_sine = call("sinh", {x}), hyper_cosine = call("cosh", {x});
    const Expr is_large = absolute(x) > 709.0;
    const Expr sign = signed_as(one_like(x), x);
    const auto product = [&](const Expr& size, const Expr& turn, const Expr& large) {
        return turned(size, turn, scalar::select(is_large, large, size * turn));
    };
    const Expr along_cosine = half_exponential(x, cosine), along_sine = half_exponential(x, sine);
    return {product(hyper_sine, cosine, sign * along_cosine),
            product(hyper_cosine, sine, along_sine), product(hyper_cosine, cosine, along_cosine),
            product(hyper_sine, sine, sign * along_sine)};
}

// Where x is infinite and y no angle: infinite, and not a number.
Expr no_angle_at_infinity(const Z& z) { return is_infinite(z.re) & ~(absolute(z.im) < infinity); }

struct Inverse {
    Expr arcsine, arccosine;  // of the real part, for x >= 0
    Expr imaginary;           // its size, which both share
};

// For x = |re|, y = |im|.
Inverse inverse_sines(const Expr& x, const Expr& y) {
    const auto root = [](const Expr& value) { return square_root(value); };
    const Expr r = call("hypot", {x + 1.0, y}), s = call("hypot", {x - 1.0, y});
    const Expr a = 0.5 * (r + s);
    const Expr b = x / a;
    const Expr is_inside = x <= 1.0;
    const Expr above = r + (x + 1.0);
    const Expr beside = s + absolute(x - 1.0);
    const Expr yy = y * y, apx = a + x;
    const Expr inner = root(0.5 * apx * (yy / above + beside));
    const Expr outer = y * root(0.5 * (apx / above + apx / beside));
    const Expr opposite = scalar::select(is_inside, inner, outer);
    const Expr is_steep = b > 0.6417;
    const Expr less_one = 0.5 * (yy / above + scalar::select(x < 1.0, yy / beside, beside));
    const Expr near = call("log1p", {less_one + root(less_one * (a + 1.0))});
    const Expr far = call("log", {a + root(a * a - 1.0)});
    const Expr size = scalar::select(a <= 1.5, near, far);
    // y^2 underflows.
    const Expr flat = y / root((1.0 - x) * (1.0 + x));
    const Expr is_flat = (y < 0x1p-500) & (x < 1.0);
    // z^2 overflows.
    const Expr is_huge = (x > 0x1p500) | (y > 0x1p500);
    const Expr angle = call("arctan2", {x, y});
    const Expr huge_size = log_of_size({x, y}) + std::numbers::ln2;
    const Expr arcsine =
        scalar::select(is_steep, call("arctan2", {x, opposite}), call("arcsin", {b}));
    const Expr arccosine =
        scalar::select(is_steep, call("arctan2", {opposite, x}), call("arccos", {b}));
    return {scalar::select(is_huge, angle, arcsine),
            scalar::select(is_huge, call("arctan2", {y, x}), arccosine),
            scalar::select(is_huge, huge_size, scalar::select(is_flat, flat, size))};
}

}  // namespace

Z sinh(const Z& z) {
    const Hyperbolic h = hyperbolic(z);
    const Expr is_special = no_angle_at_infinity(z);
    return {scalar::select(is_special, absolute(z.re), h.sinh_cos), h.cosh_sin};
}

Z cosh(const Z& z) {
    const Hyperbolic h = hyperbolic(z);
    const Expr is_special = no_angle_at_infinity(z);
    const Expr no_size = scalar::equal(z.re, 0) & ~(absolute(z.im) < infinity);
    return {scalar::select(is_special, absolute(z.re), h.cosh_cos),
            scalar::select(no_size, 0.0, h.sinh_sin)};
}

// Kahan's, of tan y and sinh x; beyond 22 it is 1 but for 4 sin y cos y e^-2|x| i.
Z tanh(const Z& z) {
    const Expr &x = z.re, &y = z.im;
    const Expr t = call("tan", {y}), s = call("sinh", {x});
    const Expr beta = 1.0 + t * t;
    const Expr divisor = 1.0 + beta * (s * s);
    const Expr re = beta * square_root(1.0 + s * s) * s / divisor;
    const Expr im = t / divisor;
    const Expr is_large = absolute(x) > 22.0;
    const Expr fade = call("exp", {-absolute(x)});
    const Expr is_angle = absolute(y) < infinity;
    const Expr turn = scalar::select(is_angle, call("sin", {y}) * call("cos", {y}), 0.0);
    const Expr is_on_axis = scalar::equal(y, 0);
    const Expr no_angle_at_0 = scalar::equal(x, 0) & ~is_angle;
    const Expr is_far = is_large & (is_angle | is_infinite(x));
    const Expr fading =
        scalar::select(is_angle, 4.0 * turn * fade * fade, signed_as(zero_like(y), y));
    return {scalar::select(is_far, signed_as(one_like(x), x), scalar::select(no_angle_at_0, x, re)),
            scalar::select(is_on_axis, y, scalar::select(is_far, fading, im))};
}

// An infinite part of what has no angle is positive, whatever its sign.
Z sin(const Z& z) {
    const Z turned_back = by_i(sinh(times_i(z)));
    const Expr is_special = is_infinite(z.im) & ~(absolute(z.re) < infinity);
    return {turned_back.re, scalar::select(is_special, absolute(turned_back.im), turned_back.im)};
}
Z cos(const Z& z) { return cosh(times_i(z)); }
Z tan(const Z& z) { return by_i(tanh(times_i(z))); }

Z arcsin(const Z& z) {
    const Inverse inverse = inverse_sines(absolute(z.re), absolute(z.im));
    const Expr re = scalar::select(scalar::equal(z.re, 0), z.re, inverse.arcsine);
    return {signed_as(re, z.re), signed_as(inverse.imaginary, z.im)};
}

Z arccos(const Z& z) {
    const Inverse inverse = inverse_sines(absolute(z.re), absolute(z.im));
    const Expr is_left = signed_as(one_like(z.re), z.re) < 0.0;
    const Expr mirrored = scalar::select(is_left, pi - inverse.arccosine, inverse.arccosine);
    const Expr re = scalar::select(scalar::equal(z.re, 0), pi / 2, mirrored);
    return {re, signed_as(inverse.imaginary, -z.im)};
}

Z arcsinh(const Z& z) { return swapped(arcsin(swapped(z))); }

Z arccosh(const Z& z) {
    const Z angle = arccos(z);
    const Expr size = absolute(angle.im);
    return {size, signed_as(angle.re, z.im)};
}

Z arctanh(const Z& z) {
    const Expr x = absolute(z.re), y = absolute(z.im);
    const Expr gap = 1.0 - x;
    const Expr below = gap * gap + y * y;
    const Expr near = 0.25 * call("log1p", {4.0 * x / below});
    // The squares underflow beside 1.
    const Expr is_beside_1 = scalar::equal(x, 1) & (y < 0x1p-500);
    const Expr beside_1 = 0.5 * (std::numbers::ln2 - call("log", {y}));
    const Expr is_huge = (x > 0x1p500) | (y > 0x1p500);
    // Scaled, as the divisor of a number near the limit overflows.
    constexpr double scale = 0x1p-60;
    const Z inverse = divide({one_like(x), zero_like(x)}, {x * scale, y * scale});
    const Expr no_end = is_infinite(x) | is_infinite(y);
    const Expr far = scalar::select(no_end, 0.0, inverse.re * scale);
    const Expr re = scalar::select(is_huge, far, scalar::select(is_beside_1, beside_1, near));
    const Expr angle = 0.5 * call("arctan2", {2.0 * y, gap * (1.0 + x) - y * y});
    const Expr right = Expr::constant(x.dtype(), pi / 2);
    const Expr im = scalar::select(is_huge & ~(is_infinite(x) & is_nan(y)), right, angle);
    return {signed_as(scalar::select(scalar::equal(x, 0), x, re), z.re), signed_as(im, z.im)};
}

Z arctan(const Z& z) { return swapped(arctanh(swapped(z))); }

}  // namespace composit::ir::scalar::complex
