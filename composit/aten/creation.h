// PyTorch's rows of numbers, as arrays: ir::constant makes tensors of them.
#pragma once

#include "composit/ir/array.h"

#include <cstdint>

namespace composit::aten {

// start, start + step, … before end, in a dtype; of floats computed in float64. RuntimeError for a
// step of 0, and for bounds that its sign does not lead from one to the other.
[[nodiscard]] ir::Array arange(int64_t start, int64_t end, int64_t step, ir::DType dtype);
[[nodiscard]] ir::Array arange(double start, double end, double step, ir::DType dtype);
// The same with the end, where it is met.
[[nodiscard]] ir::Array range(double start, double end, double step, ir::DType dtype);
// `steps` numbers from start to end, equally far apart. Floats are rounded as PyTorch's: from
// either end to the middle, in the dtype of the result. RuntimeError for a negative count.
[[nodiscard]] ir::Array linspace(double start, double end, int64_t steps, ir::DType dtype);

}  // namespace composit::aten
