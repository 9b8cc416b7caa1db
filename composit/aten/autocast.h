// PyTorch's autocast on CPUs: which functions compute in the lower precision, and which in float32.
#pragma once

#include <cstdint>
#include <string_view>

namespace composit::aten {

enum class Autocast : uint8_t {
    none,     // as its operands are
    lower,    // in bfloat16 or float16: products of matrices, convolutions
    float32,  // losses, decompositions, Fourier transforms
    widest,   // in float32 where an operand is, else in the lower precision: what joins tensors
};

// Of a function by its name, with "linalg_" and "fft_" or without. `mode` is that of "pad", of
// which "reflect" and "replicate" compute in float32.
[[nodiscard]] Autocast autocast_of(std::string_view function, std::string_view mode = {});

}  // namespace composit::aten
