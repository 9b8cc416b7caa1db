// Window functions, and the Bessel function that kaiser is made of.
//
// A window has float64 values, symmetric about the middle: none for M < 1, a single 1 for M = 1;
// M need not be whole.
#pragma once

#include "composit/numpy/operand.h"

namespace composit::numpy {

// numpy.bartlett: a triangle that is 0 at its ends.
[[nodiscard]] Tensor bartlett(double M);
// numpy.hanning, numpy.hamming: 0.5 + 0.5 cos, 0.54 + 0.46 cos of pi n / (M - 1), where n goes from
// 1 - M to M - 1 in steps of 2.
[[nodiscard]] Tensor hanning(double M);
[[nodiscard]] Tensor hamming(double M);
// numpy.blackman: 0.42 + 0.5 cos(pi n / (M - 1)) + 0.08 cos(2 pi n / (M - 1)).
[[nodiscard]] Tensor blackman(double M);
// numpy.kaiser: i0(beta sqrt(1 - (2 n / (M - 1) - 1)^2)) / i0(beta) for n from 0 to M - 1.
[[nodiscard]] Tensor kaiser(double M, double beta);

// numpy.i0: the modified Bessel function of the first kind and order 0; floats keep their dtype,
// others become float64. TypeError for complex dtypes. One node.
[[nodiscard]] Tensor i0(const Tensor& x);

}  // namespace composit::numpy
