// Arithmetic on unevaluated sums of two floats.
#include "composit/ir/scalar/library_pair.h"

#include "composit/ir/scalar/library_parts.h"

namespace composit::ir::scalar::parts {

Pair exact(const Expr& x) { return {x, constant_like(x, 0.0)}; }

Pair two_sum(const Expr& a, const Expr& b) {
    const Expr sum = a + b;
    const Expr part = sum - a;
    return {sum, (a - (sum - part)) + (b - part)};
}

Pair fast_two_sum(const Expr& a, const Expr& b) {
    const Expr sum = a + b;
    return {sum, b - (sum - a)};
}

Pair two_product(const Expr& a, const Expr& b) {
    const Expr product = a * b;
    return {product, fma(a, b, -product)};
}

Pair add(const Pair& a, const Expr& b) {
    const Pair sum = two_sum(a.high, b);
    return fast_two_sum(sum.high, sum.low + a.low);
}

Pair add(const Pair& a, const Pair& b) {
    const Pair high = two_sum(a.high, b.high);
    const Pair low = two_sum(a.low, b.low);
    const Pair sum = fast_two_sum(high.high, high.low + low.high);
    return fast_two_sum(sum.high, sum.low + low.low);
}

Pair multiply(const Pair& a, const Expr& b) {
    const Pair product = two_product(a.high, b);
    return fast_two_sum(product.high, fma(a.low, b, product.low));
}

Pair multiply(const Pair& a, const Pair& b) {
    const Pair product = two_product(a.high, b.high);
    return fast_two_sum(product.high, product.low + fma(a.high, b.low, a.low * b.high));
}

Pair divide(const Pair& a, const Pair& b) {
    const Expr quotient = a.high / b.high;
    const Expr rest = fma(-quotient, b.high, a.high);
    const Expr correction = (fma(-quotient, b.low, rest) + a.low) / b.high;
    return fast_two_sum(quotient, correction);
}

Pair constant_pair(const Expr& like, double high, double low) {
    return {constant_like(like, high), constant_like(like, low)};
}

Pair choose(const Expr& condition, const Pair& a, const Pair& b) {
    return {select(condition, a.high, b.high), select(condition, a.low, b.low)};
}

}  // namespace composit::ir::scalar::parts
