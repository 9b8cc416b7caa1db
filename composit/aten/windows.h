// Windows of signals by PyTorch's definitions (torch.signal.windows, torch.hann_window, …): M
// numbers.
//
//   const Tensor window = gaussian_window(128, 20.0);
//
// A window is symmetric, or, without `sym`, periodic: the first M of M + 1 symmetric ones, for
// signals that repeat. Values are computed in float64 and have `dtype`. M of 0 gives none; that of
// one number is 1, but of an exponential about another center. ValueError, PyTorch's words: M is
// negative, or another argument is out of its range.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::aten {

using ir::DType;
using ir::Tensor;

// A triangle that is 0 at its ends.
[[nodiscard]] Tensor bartlett_window(int64_t M, bool sym = true, DType dtype = DType::float32);
// a[0] - a[1] cos(x) + a[2] cos(2 x) - …, where x goes once around the circle.
[[nodiscard]] Tensor general_cosine_window(int64_t M, const std::vector<double>& a, bool sym = true,
                                           DType dtype = DType::float32);
// alpha - (1 - alpha) cos(x)
[[nodiscard]] Tensor general_hamming_window(int64_t M, double alpha = 0.54, bool sym = true,
                                            DType dtype = DType::float32);
// The same with alpha 0.5.
[[nodiscard]] Tensor hann_window(int64_t M, bool sym = true, DType dtype = DType::float32);
// 0.42 - 0.5 cos(x) + 0.08 cos(2 x)
[[nodiscard]] Tensor blackman_window(int64_t M, bool sym = true, DType dtype = DType::float32);
// Nuttall's four terms, with the smallest lobes beside the main one.
[[nodiscard]] Tensor nuttall_window(int64_t M, bool sym = true, DType dtype = DType::float32);
// Half a wave of a sine, in the middles of M equal parts.
[[nodiscard]] Tensor cosine_window(int64_t M, bool sym = true, DType dtype = DType::float32);
// exp(-|n - center| / tau); the center, unless given, is the middle. ValueError for one that is
// given with sym, and for tau <= 0.
[[nodiscard]] Tensor exponential_window(int64_t M, std::optional<double> center = {},
                                        double tau = 1, bool sym = true,
                                        DType dtype = DType::float32);
// exp(-((n - middle) / std)^2 / 2); ValueError for std <= 0.
[[nodiscard]] Tensor gaussian_window(int64_t M, double std = 1, bool sym = true,
                                     DType dtype = DType::float32);
// i0(beta sqrt(1 - x^2)) / i0(beta) for x from -1 to 1; ValueError for a negative beta.
[[nodiscard]] Tensor kaiser_window(int64_t M, double beta = 12, bool sym = true,
                                   DType dtype = DType::float32);

}  // namespace composit::aten
