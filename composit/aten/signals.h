// Short-time Fourier transforms.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace composit::aten {

using ir::Tensor;

struct StftOptions {
    int64_t n_fft = 0;
    std::optional<int64_t> hop_length = {}, win_length = {};  // n_fft / 4, n_fft
    Tensor window = {};                                       // ones unless given
    bool is_centred = true;                                   // frames begin half a frame earlier
    std::string_view pad_mode = "reflect";                    // of what a centred frame lacks
    bool is_normalized = false;
    std::optional<bool> is_onesided = {};  // unless given: of real signals and windows
    // Of frames that are not centred: the signal begins where the first window begins, not where
    // the first n_fft elements do.
    std::optional<bool> is_aligned_to_window = {};
};
// x (…, length) of at most two dimensions; (…, frequencies, frames), complex. RuntimeError,
// PyTorch's words, for an n_fft, a window or lengths that do not fit.
[[nodiscard]] Tensor stft(const Tensor& x, const StftOptions& options);
// The signals of stft, by least squares: real ones, or complex ones of all frequencies. `length`
// cuts them, or adds zeros. RuntimeError as above, and where windows leave a part of the signal
// out, as far as their values are known.
[[nodiscard]] Tensor istft(const Tensor& x, const StftOptions& options,
                           std::optional<int64_t> length = {}, bool is_complex = false);

}  // namespace composit::aten
