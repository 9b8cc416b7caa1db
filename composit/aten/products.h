// PyTorch's products of matrices and vectors, which promote nothing.
//
// ValueErrors are what PyTorch raises RuntimeError for.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace composit::aten {

using ir::Tensor;

// What a product of two operands is of: their dtype, which is one, or `out_dtype`, which may be
// float32 for products of float16 and bfloat16: that of two halves is exact there. ValueError.
[[nodiscard]] ir::DType product_dtype(std::string_view function, const Tensor& a, const Tensor& b,
                                      std::optional<ir::DType> out_dtype = {});

// x * y of operands of one dtype, in that. As PyTorch converts products of floats of 8 bits: one
// that is too large for a dtype without infinity becomes its greatest number.
[[nodiscard]] Tensor product(const Tensor& x, const Tensor& y);

// numpy::matmul of operands of one dtype, made in out_dtype.
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b,
                            std::optional<ir::DType> out_dtype = {});
// Of two matrices; of batches of matrices (batch, m, n); of a matrix and a vector; of two vectors.
// ValueError for other dimensions.
[[nodiscard]] Tensor mm(const Tensor& a, const Tensor& b, std::optional<ir::DType> out_dtype = {});
[[nodiscard]] Tensor bmm(const Tensor& a, const Tensor& b, std::optional<ir::DType> out_dtype = {});
[[nodiscard]] Tensor mv(const Tensor& a, const Tensor& b, std::optional<ir::DType> out_dtype = {});
[[nodiscard]] Tensor dot(const Tensor& a, const Tensor& b, std::optional<ir::DType> out_dtype = {});

// x @ weight^T + bias over the last axis of x: weight (out, in), or (in,). ValueError, PyTorch's
// words, where dtypes or lengths differ.
[[nodiscard]] Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

// The cross product along a dimension of length 3 of both, the first such one of a unless given.
// RuntimeError where there is none, or it has another length.
[[nodiscard]] Tensor cross(const Tensor& a, const Tensor& b, std::optional<int64_t> dim = {});

}  // namespace composit::aten
