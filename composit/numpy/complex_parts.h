// The parts of numbers that may be complex: real, imag, conjugate, angle, and questions about them.
//
// Complex tensors cannot be computed with yet: NotSupported, but for iscomplexobj and isrealobj,
// which ask for the dtype only. Results have x's shape.
#pragma once

#include "composit/numpy/operand.h"

namespace composit::numpy {

// numpy.real: x itself. numpy.imag: zeros of x's dtype.
[[nodiscard]] Tensor real(const Tensor& x);
[[nodiscard]] Tensor imag(const Tensor& x);
// numpy.conjugate, numpy.conj: x; int8 for bool.
[[nodiscard]] Tensor conjugate(const Tensor& x);
[[nodiscard]] Tensor conj(const Tensor& x);
// numpy.angle: 0 where the sign bit of z is not set, pi (or 180 degrees) where it is; the dtype of
// arctan2(0, z). Not differentiable where z is 0; slope 0 elsewhere.
[[nodiscard]] Tensor angle(const Tensor& z, bool deg = false);

// numpy.iscomplex, numpy.isreal: bool, where the imaginary part is not zero, is zero.
[[nodiscard]] Tensor iscomplex(const Tensor& x);
[[nodiscard]] Tensor isreal(const Tensor& x);
// numpy.iscomplexobj, numpy.isrealobj: whether the dtype is complex, is not.
[[nodiscard]] bool iscomplexobj(const Tensor& x);
[[nodiscard]] bool isrealobj(const Tensor& x);
// numpy.real_if_close: x itself.
[[nodiscard]] Tensor real_if_close(const Tensor& x);

}  // namespace composit::numpy
