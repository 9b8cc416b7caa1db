// PyTorch's elementwise functions of several operands, in the dtype that it computes with
// (dtypes.h).
#pragma once

#include "composit/numpy/operand.h"

#include <string_view>

namespace composit::aten {

using ir::Tensor;
using numpy::Operand;

// x / y, integers as floats; rounded down ("floor") or towards zero ("trunc"), in their common
// dtype. RuntimeError for another mode, PyTorch's words.
[[nodiscard]] Tensor div(const Operand& x, const Operand& y, std::string_view rounding_mode = {});
// x, below 0 times a weight: one, or one for each channel, axis 1.
[[nodiscard]] Tensor prelu(const Tensor& x, const Tensor& weight);
// x log(y), 0 where x is 0 unless y is NaN.
[[nodiscard]] Tensor xlogy(const Operand& x, const Operand& y);

}  // namespace composit::aten
