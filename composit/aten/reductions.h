// PyTorch's reductions where they are not NumPy's: sums of integers, picked elements, norms.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace composit::aten {

using ir::DType;
using ir::Tensor;
using numpy::Axis;

// IndexError, PyTorch's words, where a place among no elements is asked for: of a dimension of
// length 0, or of all of an empty tensor.
void check_not_empty(std::string_view function, const Tensor& x, std::optional<int64_t> dim);

// What sums and products add: x in `dtype` where it is given, integers in int64.
[[nodiscard]] Tensor summable(const Tensor& x, std::optional<DType> dtype);

// The elements at indices along an axis, and the indices: gradients go to those elements alone.
[[nodiscard]] std::pair<Tensor, Tensor> picked(const Tensor& x, const Tensor& indices, int64_t dim,
                                               bool keepdim);

// The logarithm of the sum of exponentials over axes, all for none.
[[nodiscard]] Tensor logsumexp(const Tensor& x, const Axis& dim, bool keepdim = false);

// log(exp(a) + exp(b)), of complex numbers as well.
[[nodiscard]] Tensor logaddexp(const Tensor& a, const Tensor& b);
// The logarithm of the sum of exponentials so far, along a dimension, of complex numbers as well.
[[nodiscard]] Tensor logcumsumexp(const Tensor& x, int64_t dim);

// The square root, of slope 0 at 0 as PyTorch has it for norms.
[[nodiscard]] Tensor root(const Tensor& x);
// The norm of an order over axes, all for none; floats of 16 bits are summed in float32.
[[nodiscard]] Tensor vector_norm(const Tensor& x, double order = 2, const Axis& dim = {},
                                 bool keepdim = false);
// The p-norm over all dimensions but one, which stays: v.shape[dim] norms; of -1 over all, without
// dimensions.
[[nodiscard]] Tensor norm_except_dim(const Tensor& v, double p = 2, int64_t dim = 0);
// The p-norm of absolute values; slopes at zeros are 0, as PyTorch has them.
[[nodiscard]] Tensor power_root(const Tensor& size, double p, const Axis& dim,
                                bool keepdim = false);

// The best so far along an axis and where it stands, the last of equal ones; NaN stays.
[[nodiscard]] std::pair<Tensor, Tensor> running_maximum(const Tensor& x, int64_t dim);
[[nodiscard]] std::pair<Tensor, Tensor> running_minimum(const Tensor& x, int64_t dim);

}  // namespace composit::aten
