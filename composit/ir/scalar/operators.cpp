// The C++ operators and functions that build expressions; a literal takes the dtype of the other
// operand.
#include "composit/base/error.h"
#include "composit/ir/scalar/expr.h"
#include "composit/ir/scalar/row.h"

namespace composit::ir::scalar {
namespace {

Expr like(const Expr& x, double value) { return Expr::constant(x.dtype(), value); }

}  // namespace

Expr operator+(const Expr& a, const Expr& b) { return Expr::make(Op::add, {a, b}); }
Expr operator-(const Expr& a, const Expr& b) { return Expr::make(Op::subtract, {a, b}); }
Expr operator*(const Expr& a, const Expr& b) { return Expr::make(Op::multiply, {a, b}); }
Expr operator/(const Expr& a, const Expr& b) { return Expr::make(Op::divide, {a, b}); }
Expr operator+(const Expr& a, double b) { return a + like(a, b); }
Expr operator-(const Expr& a, double b) { return a - like(a, b); }
Expr operator*(const Expr& a, double b) { return a * like(a, b); }
Expr operator/(const Expr& a, double b) { return a / like(a, b); }
Expr operator+(double a, const Expr& b) { return like(b, a) + b; }
Expr operator-(double a, const Expr& b) { return like(b, a) - b; }
Expr operator*(double a, const Expr& b) { return like(b, a) * b; }
Expr operator/(double a, const Expr& b) { return like(b, a) / b; }
Expr operator-(const Expr& a) { return Expr::make(Op::negate, {a}); }

Expr operator<(const Expr& a, const Expr& b) { return Expr::make(Op::less, {a, b}); }
Expr operator<=(const Expr& a, const Expr& b) { return Expr::make(Op::less_equal, {a, b}); }
Expr operator>(const Expr& a, const Expr& b) { return Expr::make(Op::greater, {a, b}); }
Expr operator>=(const Expr& a, const Expr& b) { return Expr::make(Op::greater_equal, {a, b}); }
Expr operator<(const Expr& a, double b) { return a < like(a, b); }
Expr operator<=(const Expr& a, double b) { return a <= like(a, b); }
Expr operator>(const Expr& a, double b) { return a > like(a, b); }
Expr operator>=(const Expr& a, double b) { return a >= like(a, b); }
Expr equal(const Expr& a, const Expr& b) { return Expr::make(Op::equal, {a, b}); }
Expr not_equal(const Expr& a, const Expr& b) { return Expr::make(Op::not_equal, {a, b}); }
Expr equal(const Expr& a, double b) { return equal(a, like(a, b)); }
Expr not_equal(const Expr& a, double b) { return not_equal(a, like(a, b)); }

Expr operator&(const Expr& a, const Expr& b) { return Expr::make(Op::bit_and, {a, b}); }
Expr operator|(const Expr& a, const Expr& b) { return Expr::make(Op::bit_or, {a, b}); }
Expr operator^(const Expr& a, const Expr& b) { return Expr::make(Op::bit_xor, {a, b}); }
Expr operator~(const Expr& a) { return Expr::make(Op::bit_not, {a}); }
Expr operator<<(const Expr& a, int count) {
    return Expr::make(Op::shift_left, {a, like(a, count)});
}
Expr operator>>(const Expr& a, int count) {
    return Expr::make(Op::shift_right, {a, like(a, count)});
}

Expr select(const Expr& condition, const Expr& a, const Expr& b) {
    return Expr::make(Op::select, {condition, a, b});
}
Expr select(const Expr& condition, const Expr& a, double b) {
    return select(condition, a, like(a, b));
}
Expr select(const Expr& condition, double a, const Expr& b) {
    return select(condition, like(b, a), b);
}

// Complex numbers have no fused operation.
Expr fma(const Expr& a, const Expr& b, const Expr& c) {
    return is_complex(a.dtype()) ? a * b + c : Expr::make(Op::fma, {a, b, c});
}
Expr fma(const Expr& a, const Expr& b, double c) { return fma(a, b, like(a, c)); }
Expr fma(const Expr& a, double b, const Expr& c) { return fma(a, like(a, b), c); }
Expr fma(const Expr& a, double b, double c) { return fma(a, like(a, b), like(a, c)); }

Expr absolute(const Expr& x) {
    if (is_complex(x.dtype())) return Expr::call(row("absolute"), {x});
    return Expr::make(Op::absolute, {x});
}
Expr square_root(const Expr& x) {
    if (is_complex(x.dtype())) return Expr::call(row("sqrt"), {x});
    return Expr::make(Op::square_root, {x});
}
Expr floor(const Expr& x) { return Expr::make(Op::floor, {x}); }
Expr ceil(const Expr& x) { return Expr::make(Op::ceil, {x}); }
Expr rint(const Expr& x) { return Expr::make(Op::rint, {x}); }
Expr trunc(const Expr& x) { return Expr::make(Op::trunc, {x}); }
Expr copysign(const Expr& magnitude, const Expr& sign) {
    return Expr::make(Op::copysign, {magnitude, sign});
}

}  // namespace composit::ir::scalar
