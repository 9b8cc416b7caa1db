// numpy.fft: discrete Fourier transforms, their frequencies and orders.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::numpy::fft {

// How the two directions are scaled: backward 1 and 1 / n, ortho both 1 / sqrt(n), forward 1 / n
// and 1.
enum class Norm : uint8_t { backward, ortho, forward };
// ValueError: "Invalid norm value".
[[nodiscard]] Norm norm_named(std::string_view name);

// ----- transforms
// Results are complex64 for float32, float16 and complex64, complex128 for others; those of irfft
// and hfft real. Sums are products with small matrices, one after the other (fft_transform.h): the
// error grows with the logarithm of n. Each is one node, and linear: derivatives are transforms.
//
// n: cropped or with zeros behind; the length of the axis unless given. ValueError below 1,
// AxisError out of range, TypeError for complex operands of rfft and ihfft.
using Length = std::optional<int64_t>;
[[nodiscard]] Tensor fft(const Tensor& x, Length n = {}, int64_t axis = -1, Norm norm = {});
[[nodiscard]] Tensor ifft(const Tensor& x, Length n = {}, int64_t axis = -1, Norm norm = {});
// The n / 2 + 1 results that are not determined by symmetry.
[[nodiscard]] Tensor rfft(const Tensor& x, Length n = {}, int64_t axis = -1, Norm norm = {});
// n real results; 2 (length - 1) unless given.
[[nodiscard]] Tensor irfft(const Tensor& x, Length n = {}, int64_t axis = -1, Norm norm = {});
// The n real results of a transform of Hermitian numbers, of which half are given.
[[nodiscard]] Tensor hfft(const Tensor& x, Length n = {}, int64_t axis = -1, Norm norm = {});
[[nodiscard]] Tensor ihfft(const Tensor& x, Length n = {}, int64_t axis = -1, Norm norm = {});

// Over several axes, the last one first; -1 in `s` is the length of the axis. Without axes the last
// ones, as many as `s` has; without both all. ValueError: "Shape and axes have different lengths".
using Lengths = std::optional<std::vector<int64_t>>;
[[nodiscard]] Tensor fftn(const Tensor& x, const Lengths& s = {}, const Lengths& axes = {},
                          Norm norm = {});
[[nodiscard]] Tensor ifftn(const Tensor& x, const Lengths& s = {}, const Lengths& axes = {},
                           Norm norm = {});
[[nodiscard]] Tensor rfftn(const Tensor& x, const Lengths& s = {}, const Lengths& axes = {},
                           Norm norm = {});
[[nodiscard]] Tensor irfftn(const Tensor& x, const Lengths& s = {}, const Lengths& axes = {},
                            Norm norm = {});
inline const Lengths last_two = std::vector<int64_t>{-2, -1};
[[nodiscard]] Tensor fft2(const Tensor& x, const Lengths& s = {}, const Lengths& axes = last_two,
                          Norm norm = {});
[[nodiscard]] Tensor ifft2(const Tensor& x, const Lengths& s = {}, const Lengths& axes = last_two,
                           Norm norm = {});
[[nodiscard]] Tensor rfft2(const Tensor& x, const Lengths& s = {}, const Lengths& axes = last_two,
                           Norm norm = {});
[[nodiscard]] Tensor irfft2(const Tensor& x, const Lengths& s = {}, const Lengths& axes = last_two,
                            Norm norm = {});

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
