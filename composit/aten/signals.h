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
    std::optional<bool> is_onesided = {};  // unless given: of real signals
};
// x (…, length) of at most two dimensions; (…, frequencies, frames), complex. ValueError, PyTorch's
// words, for an n_fft that does not fit.
[[nodiscard]] Tensor stft(const Tensor& x, const StftOptions& options);
// The signals of stft, by least squares; `length` cuts them.
[[nodiscard]] Tensor istft(const Tensor& x, const StftOptions& options,
                           std::optional<int64_t> length = {});

}  // namespace composit::aten
