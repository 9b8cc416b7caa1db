// Elementwise functions by name, for formulas.
#pragma once

#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"

namespace composit::aten::rows {

using ir::Tensor;
using numpy::Operand;

inline Tensor square(const Tensor& x) { return x * x; }
inline Tensor sqrt(const Tensor& x) { return numpy::apply("sqrt", {x}); }
inline Tensor abs(const Tensor& x) { return numpy::apply("absolute", {x}); }
inline Tensor sign(const Tensor& x) { return numpy::apply("sign", {x}); }
inline Tensor exp(const Tensor& x) { return numpy::apply("exp", {x}); }
inline Tensor log(const Tensor& x) { return numpy::apply("log", {x}); }
inline Tensor log1p(const Tensor& x) { return numpy::apply("log1p", {x}); }
inline Tensor reciprocal(const Tensor& x) { return numpy::apply("reciprocal", {x}); }
inline Tensor maximum(const Operand& a, const Operand& b) {
    return numpy::apply("maximum", {a, b});
}
inline Tensor minimum(const Operand& a, const Operand& b) {
    return numpy::apply("minimum", {a, b});
}
inline Tensor logaddexp(const Operand& a, const Operand& b) {
    return numpy::apply("logaddexp", {a, b});
}
inline Tensor power(const Operand& a, const Operand& b) { return numpy::apply("power", {a, b}); }
inline Tensor equal(const Operand& a, const Operand& b) { return numpy::apply("equal", {a, b}); }
inline Tensor not_equal(const Operand& a, const Operand& b) {
    return numpy::apply("not_equal", {a, b});
}
inline Tensor where(const Tensor& condition, const Operand& a, const Operand& b) {
    return numpy::apply("where", {condition, a, b});
}
// 0 and 1 of x's dtype, of no dimensions.
inline Tensor zero_of(const Tensor& x) { return numpy::zeros({}, x.dtype()); }
inline Tensor one_of(const Tensor& x) { return numpy::ones({}, x.dtype()); }

}  // namespace composit::aten::rows
