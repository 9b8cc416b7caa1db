// Arithmetic and order of complex numbers in parts, as NumPy's.
#include "composit/base/error.h"
#include "composit/ir/scalar/complex_functions.h"

namespace composit::ir::scalar::complex {

Z multiply(const Z& a, const Z& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

// By the larger part of b, so that its square never overflows. By 0: each part by |0|.
Z divide(const Z& a, const Z& b) {
    const Expr size_re = absolute(b.re), size_im = absolute(b.im);
    const Expr by_re = size_re >= size_im;
    const Expr large = scalar::select(by_re, b.re, b.im), small = scalar::select(by_re, b.im, b.re);
    const Expr ratio = small / large;
    const Expr scale = 1.0 / (large + small * ratio);
    const Expr re = scalar::select(by_re, a.re + a.im * ratio, a.re * ratio + a.im) * scale;
    const Expr im = scalar::select(by_re, a.im - a.re * ratio, a.im * ratio - a.re) * scale;
    const Expr by_zero = scalar::equal(size_re, 0) & scalar::equal(size_im, 0);
    return {scalar::select(by_zero, a.re / size_re, re),
            scalar::select(by_zero, a.im / size_re, im)};
}

Expr equal(const Z& a, const Z& b) { return scalar::equal(a.re, b.re) & scalar::equal(a.im, b.im); }

Expr compare(Op op, const Z& a, const Z& b) {
    if (op == Op::equal) return equal(a, b);
    if (op == Op::not_equal) return not_equal(a.re, b.re) | not_equal(a.im, b.im);
    const bool is_less = op == Op::less || op == Op::less_equal;
    const Expr first = Expr::make(is_less ? Op::less : Op::greater, {a.re, b.re});
    const Expr numbers = scalar::equal(a.im, a.im) & scalar::equal(b.im, b.im);
    return (first & numbers) | (scalar::equal(a.re, b.re) & Expr::make(op, {a.im, b.im}));
}

Expr is_nan(const Z& x) { return not_equal(x.re, x.re) | not_equal(x.im, x.im); }

Expr signed_as(const Expr& size, const Expr& sign) {
    return copysign(size, scalar::select(scalar::equal(sign, sign), sign, 1.0));
}

Z select(const Expr& condition, const Z& a, const Z& b) {
    return {scalar::select(condition, a.re, b.re),
            a.im ? scalar::select(condition, a.im, b.im) : Expr()};
}

}  // namespace composit::ir::scalar::complex
