// The parts of numbers that may be complex: real, imag, angle, and questions about them. Results
// have x's shape. (conjugate is a row of the scalar table.)
#pragma once

#include "composit/numpy/operand.h"

namespace composit::numpy {

// numpy.real, numpy.imag: of a real x, x itself and zeros of its dtype.
[[nodiscard]] Tensor real(const Tensor& x);
[[nodiscard]] Tensor imag(const Tensor& x);
// numpy.angle: arctan2 of both parts, in radians or degrees. 0 where the sign bit of a real z is
// not set, pi (or 180 degrees) where it is. Slope 0 where z is 0.
[[nodiscard]] Tensor angle(const Tensor& z, bool deg = false);

// numpy.iscomplex, numpy.isreal: bool, where the imaginary part is not zero, is zero.
[[nodiscard]] Tensor iscomplex(const Tensor& x);
[[nodiscard]] Tensor isreal(const Tensor& x);
// numpy.iscomplexobj, numpy.isrealobj: whether the dtype is complex, is not.
[[nodiscard]] bool iscomplexobj(const Tensor& x);
[[nodiscard]] bool isrealobj(const Tensor& x);
// numpy.real_if_close: the real part where all imaginary parts are smaller than `tol`, or for tol >
// 1 than `tol` machine epsilons; else x itself. Complex values are evaluated now: NotSupported
// where they depend on a placeholder.
[[nodiscard]] Tensor real_if_close(const Tensor& x, double tol = 100);

}  // namespace composit::numpy
