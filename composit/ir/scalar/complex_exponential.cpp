// Exponentials, logarithms, roots and powers of complex numbers in parts; special values are C's
// (annex G).
#include "composit/ir/scalar/complex_functions.h"
#include "composit/ir/scalar/table.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace composit::ir::scalar::complex {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Expr is_infinite(const Expr& x) { return scalar::equal(absolute(x), infinity); }
Expr is_nan(const Expr& x) { return not_equal(x, x); }
Expr larger(const Expr& a, const Expr& b) { return scalar::select(a < b, b, a); }
Expr smaller(const Expr& a, const Expr& b) { return scalar::select(a < b, a, b); }

// A sum and what its rounding lost, |a| and |b| of any size (Knuth).
struct Sum {
    Expr high, low;
};
Sum two_sum(const Expr& a, const Expr& b) {
    const Expr sum = a + b, back = sum - a;
    return {sum, (a - (sum - back)) + (b - back)};
}
Sum two_product(const Expr& a, const Expr& b) {
    const Expr product = a * b;
    return {product, fma(a, b, -product)};
}

// first + a a + b b, where the large parts may cancel.
Expr sum_of_squares(const Expr& first, const Expr& a, const Expr& b) {
    const Sum aa = two_product(a, a), bb = two_product(b, b);
    const Sum one = two_sum(first, aa.high);
    const Sum all = two_sum(one.high, bb.high);
    return all.high + (((all.low + one.low) + aa.low) + bb.low);
}

// (x + iy)^n for n between -128 and 128, which is an integer: a product for each of its bits.
Z whole_power(const Z& z, const Expr& n) {
    const Expr size = Expr::cast(absolute(n), DType::int64);
    const auto integer = [](int64_t value) { return Expr::constant_integer(DType::int64, value); };
    Z result{one_like(z.re), zero_like(z.re)};
    Z square = z;
    for (int bit = 0; bit < 7; ++bit) {
        const Expr is_set = not_equal(size & integer(int64_t{1} << bit), 0);
        // The first product is one by 1 + 0i, which turns zeros and spoils infinities; but not for
        // the powers that are written out.
        Z product = multiply(result, square);
        if (bit == 0)
            product = select(scalar::equal(n, 1) | scalar::equal(n, 3), square, product);
        else if (bit == 1)
            product = select(scalar::equal(n, 2), square, product);
        result = select(is_set, product, result);
        if (bit < 6) square = multiply(square, square);
    }
    const Z inverse = divide({one_like(z.re), zero_like(z.re)}, result);
    return select(n < 0, inverse, result);
}

Z cast(const Z& z, DType dtype) { return {Expr::cast(z.re, dtype), Expr::cast(z.im, dtype)}; }

// n log z, of which a new NaN (infinity times 0) has a sign on x86, and e^(-infinity + NaN i) that
// of its NaN: the power is 0 - 0i.
Z exponent_of(const Z& n, const Z& logarithm) {
    const Z product = multiply(n, logarithm);
    const Expr had_none = ~(is_nan(n.re) | is_nan(n.im) | is_nan(logarithm.re));
    const Expr is_new = is_nan(product.im) & had_none & scalar::equal(product.re, -infinity);
    return {product.re,
            scalar::select(is_new, Expr::constant(n.re.dtype(), -infinity), product.im)};
}

}  // namespace

Z exp(const Z& z) {
    const Expr &x = z.re, &y = z.im;
    const Expr size = call("exp", {x}), root = call("exp", {0.5 * x});
    const Expr cosine = call("cos", {y}), sine = call("sin", {y});
    // e^x may overflow where its product with a small cosine does not.
    const Expr is_large = x > 709.0;
    const auto part = [&](const Expr& turn) {
        return scalar::select(is_large, (root * turn) * root, size * turn);
    };
    const Expr no_angle = ~(absolute(y) < infinity);
    const Expr is_inf = scalar::equal(x, infinity), is_zero = scalar::equal(x, -infinity);
    const Expr re =
        scalar::select(no_angle & is_inf, x, scalar::select(no_angle & is_zero, 0.0, part(cosine)));
    const Expr im =
        scalar::select(scalar::equal(y, 0), y,
                       scalar::select(no_angle & is_zero, signed_as(zero_like(y), y), part(sine)));
    return {re, im};
}

Z exp2(const Z& z) {
    const double ln2 = std::numbers::ln2;
    return exp({z.re * ln2, z.im * ln2});
}

Z expm1(const Z& z) {
    const Expr half = call("sin", {0.5 * z.im});
    const Z whole = exp(z);
    const Expr near = call("expm1", {z.re}) * call("cos", {z.im}) - 2.0 * (half * half);
    const Expr is_small = absolute(z.re) < 1.0;
    const Expr re = scalar::select(is_small, near, whole.re - 1.0);
    // NaN where the angle is none, at -infinity, too, and infinity times 0, as NumPy's.
    const Expr is_angle = absolute(z.im) < infinity;
    const Expr is_turned = is_angle & ((z.re < infinity) | not_equal(z.im, 0));
    const Expr nan = Expr::constant(z.re.dtype(), std::nan(""));
    return {scalar::select(is_angle, re, nan), scalar::select(is_turned, whole.im, nan)};
}

// Of scaled parts where a square would overflow, or lose digits of small ones; near 1 from the
// difference to it.
Expr log_of_size(const Z& z) {
    const Expr a = absolute(z.re), b = absolute(z.im);
    const Expr large = larger(a, b), small = smaller(a, b);
    const Expr is_huge = large > 0x1p1000, is_tiny = large < 0x1p-900;
    const Expr scale =
        scalar::select(is_huge, 0x1p-60, scalar::select(is_tiny, 0x1p200, one_like(a)));
    const double ln2 = std::numbers::ln2;
    const Expr shift =
        scalar::select(is_huge, 60 * ln2, scalar::select(is_tiny, -200 * ln2, zero_like(a)));
    const Expr size = call("hypot", {a * scale, b * scale});
    const Expr beside_1 =
        0.5 * call("log1p", {sum_of_squares(Expr::constant(a.dtype(), -1), large, small)});
    const Expr is_near = (size > 0.5) & (size < 2.0) & ~is_huge & ~is_tiny;
    return scalar::select(is_near, beside_1, call("log", {size}) + shift);
}

Z log(const Z& z) { return {log_of_size(z), call("arctan2", {z.im, z.re})}; }

Z log2(const Z& z) {
    const Z natural = log(z);
    return {natural.re * std::numbers::log2e, natural.im * std::numbers::log2e};
}

Z log10(const Z& z) {
    const Z natural = log(z);
    return {natural.re * std::numbers::log10e, natural.im * std::numbers::log10e};
}

// |1 + z|^2 - 1 = 2x + x^2 + y^2 where z is small.
Z log1p(const Z& z) {
    const Expr sum = z.re + 1.0;
    const Expr near = 0.5 * call("log1p", {sum_of_squares(2.0 * z.re, z.re, z.im)});
    const Expr is_near = (absolute(z.re) < 0.5) & (absolute(z.im) < 0.5);
    return {scalar::select(is_near, near, log_of_size({sum, z.im})), call("arctan2", {z.im, sum})};
}

// The part that does not cancel first; the other one is y / 2 of it.
Z sqrt(const Z& z) {
    const Expr large = larger(absolute(z.re), absolute(z.im));
    const Expr is_huge = large > 0x1p1000, is_tiny = large < 0x1p-900;
    const Expr scale =
        scalar::select(is_huge, 0x1p-20, scalar::select(is_tiny, 0x1p200, one_like(large)));
    const Expr back =
        scalar::select(is_huge, 0x1p10, scalar::select(is_tiny, 0x1p-100, one_like(large)));
    const Expr x = z.re * scale, y = z.im * scale;
    const Expr first = square_root(0.5 * (absolute(x) + call("hypot", {x, y})));
    const Expr second = y / (2.0 * first);
    const Expr is_right = x >= 0.0;
    const Expr re = back * scalar::select(is_right, first, absolute(second));
    const Expr im = back * scalar::select(is_right, second, signed_as(first, z.im));
    const Expr is_zero = scalar::equal(z.re, 0) & scalar::equal(z.im, 0);
    const Expr left = scalar::equal(z.re, -infinity), right = scalar::equal(z.re, infinity);
    // Beside an infinite real part an imaginary one that is finite counts as 0.
    const Expr rest = z.im - z.im;
    const Expr inf = Expr::constant(x.dtype(), infinity);
    const Expr special_re = scalar::select(left, absolute(rest), scalar::select(right, inf, re));
    const Expr special_im = scalar::select(left, signed_as(inf, z.im),
                                           scalar::select(right, signed_as(rest, z.im), im));
    const Expr no_end = is_infinite(z.im);
    return {scalar::select(no_end, inf, scalar::select(is_zero, 0.0, special_re)),
            scalar::select(no_end | is_zero, z.im, special_im)};
}

// Integers by multiplication in their own precision, as NumPy's; others in float64. 0 to a power
// with a positive real part is 0.
Z power(const Z& z, const Z& n) {
    const Expr &a = n.re, &b = n.im;
    const Expr is_real = scalar::equal(b, 0);
    const Expr is_whole = is_real & scalar::equal(floor(a), a) & (absolute(a) < 100.0);
    const Z whole = whole_power(z, scalar::select(is_whole, a, 0.0));
    const DType own = a.dtype();
    const Z product = exp(exponent_of(cast(n, DType::float64), log(cast(z, DType::float64))));
    const Z any = cast(product, own);
    const Expr zero = zero_like(a), nan = Expr::constant(a.dtype(), std::nan(""));
    const Expr of_zero = scalar::equal(z.re, 0) & scalar::equal(z.im, 0);
    const Z at_zero = select(a > 0.0, Z{zero, zero}, Z{nan, nan});
    const Expr is_one = scalar::equal(a, 0) & is_real;
    return select(is_one, Z{one_like(a), zero},
                  select(of_zero, at_zero, select(is_whole, whole, any)));
}

}  // namespace composit::ir::scalar::complex
