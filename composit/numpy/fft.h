// numpy.fft: discrete Fourier transforms, their frequencies and orders.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <cstdint>

namespace composit::numpy::fft {

// ----- frequencies and orders
// The frequencies, in cycles per unit, of the results of a transform of n samples with spacing d:
// zero first, then positive, then negative ones. ValueError: n is less than 1; ZeroDivisionError: d
// is 0.
[[nodiscard]] Tensor fftfreq(int64_t n, double d = 1.0);
// The same of a transform of real numbers: none is negative.
[[nodiscard]] Tensor rfftfreq(int64_t n, double d = 1.0);
// Zero frequency in the middle of each of the axes (None: of all); ifftshift undoes it.
[[nodiscard]] Tensor fftshift(const Tensor& x, const Axis& axes = {});
[[nodiscard]] Tensor ifftshift(const Tensor& x, const Axis& axes = {});

}  // namespace composit::numpy::fft
