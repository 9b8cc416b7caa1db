// Elementwise functions that are made of several rows of the scalar table. Results have x's shape.
#pragma once

#include "composit/numpy/operand.h"

namespace composit::numpy {

// numpy.fix: rounded towards zero, x's dtype: trunc.
[[nodiscard]] Tensor fix(const Tensor& x);
// numpy.sinc: sin(pi x) / (pi x), 1 at 0; integers and bool become float64. Near 0 by
// its series: derivatives are right there.
[[nodiscard]] Tensor sinc(const Tensor& x);
// numpy.nan_to_num: NaN, infinity and -infinity replaced; the infinities by the greatest and the
// least number of x's dtype unless given. Replacements are broadcast to x and take its dtype;
// TypeError for complex ones. Integers and bool stay as they are.
[[nodiscard]] Tensor nan_to_num(const Tensor& x, const Operand& nan = 0.0,
                                const Operand& posinf = {}, const Operand& neginf = {});

}  // namespace composit::numpy
