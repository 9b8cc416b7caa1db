// Numbers held as an unevaluated sum of two floats, of twice the precision.
//
// The operations are those of Dekker and Knuth with fma (see Muller et al., Handbook of
// Floating-Point Arithmetic, chapter 14). Infinities and NaN turn the low part into NaN; callers
// select around them.
#pragma once

#include "composit/ir/scalar/expr.h"

namespace composit::ir::scalar::parts {

struct Pair {
    Expr high;
    Expr low;  // at most half an ulp of `high`, unless stated
};

Pair exact(const Expr& x);                        // low is 0
Pair two_sum(const Expr& a, const Expr& b);       // exactly a + b
Pair fast_two_sum(const Expr& a, const Expr& b);  // the same where |a| >= |b| or a is 0
Pair two_product(const Expr& a, const Expr& b);   // exactly a * b, but for underflow
Pair add(const Pair& a, const Expr& b);
Pair add(const Pair& a, const Pair& b);  // relative error below 2^-104 without cancellation
Pair multiply(const Pair& a, const Expr& b);
Pair multiply(const Pair& a, const Pair& b);
Pair divide(const Pair& a, const Pair& b);
Pair constant_pair(const Expr& like, double high, double low);
Pair choose(const Expr& condition, const Pair& a, const Pair& b);
inline Pair negate(const Pair& a) { return {-a.high, -a.low}; }
inline Expr rounded(const Pair& a) { return a.high + a.low; }

}  // namespace composit::ir::scalar::parts
