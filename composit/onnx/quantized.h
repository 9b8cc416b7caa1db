// Products of floats that were made of numbers of eight bits.
//
// Where both operands of a Conv, MatMul or Gemm are results of DequantizeLinear, their products are
// formed of the numbers themselves: the sums are exact int32, and are scaled once. That is what
// QLinearConv and QLinearMatMul say, and what other runtimes do with such models; of floats every
// sum is rounded.
#pragma once

#include "composit/onnx/call.h"

#include <optional>

namespace composit::onnx {

// The convolution of a Conv's inputs 0 and 1, without its bias. Nothing unless both were made of
// numbers of eight bits: x by one scale, filters by one or one for each of them, with zero points
// of 0.
[[nodiscard]] std::optional<Tensor> convolution_of_quantized(const Call& call);

// a @ b. Nothing unless both were made of numbers of eight bits, a by one scale, b by one or one
// for each column.
[[nodiscard]] std::optional<Tensor> product_of_quantized(const Call& call, const Value& a,
                                                         const Value& b);

// The transposed matrix, made of transposed numbers if it was made of any.
[[nodiscard]] Value transposed(const Value& matrix);

}  // namespace composit::onnx
