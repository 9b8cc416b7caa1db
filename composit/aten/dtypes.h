// PyTorch's promotion of dtypes, where it is not NumPy's, and what it asks of dtypes.
#pragma once

#include "composit/numpy/operand.h"

#include <vector>

namespace composit::aten {

using ir::DType;
using ir::Tensor;
using numpy::Operand;

// What Python's floats are beside integers, and what integers become: float32 in the beginning.
[[nodiscard]] DType default_dtype();
// TypeError unless it is a real floating dtype. Complex numbers are of twice its width.
void set_default_dtype(DType dtype);

// The dtype that PyTorch computes with: tensors with dimensions decide; those without, and then
// numbers, only where they are of a higher kind. Floats win over integers whatever their widths
// are.
[[nodiscard]] DType result_dtype(const std::vector<Tensor>& operands);

// x in the dtype, as PyTorch converts: what is too large for a float without infinity becomes its
// greatest number.
[[nodiscard]] Tensor converted(const Tensor& x, DType dtype);

// The same; a number stays one, of the dtype's kind.
[[nodiscard]] Tensor cast(const Operand& x, DType dtype);
// The operands in the dtype that PyTorch computes with; where all are numbers the first becomes a
// tensor.
[[nodiscard]] std::vector<Tensor> together(const std::vector<Tensor>& operands);
// The same, integers in the default dtype.
[[nodiscard]] std::vector<Tensor> together_as_floats(const std::vector<Tensor>& operands);
// Integers in the default dtype.
[[nodiscard]] Tensor floating(const Tensor& x);

// The distance from 1 to the next number of a floating dtype.
[[nodiscard]] double epsilon_of(DType dtype);

// The least normal number of a floating dtype, and the least of all.
[[nodiscard]] double least_normal(DType dtype);
[[nodiscard]] double lowest(DType dtype);

// Floats of 16 bits in float32, in which PyTorch computes sums that would be too large for them;
// all else, none too, as it is.
[[nodiscard]] Tensor widened(const Tensor& x);

}  // namespace composit::aten
