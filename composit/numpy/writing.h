// Tensors with some elements replaced: what NumPy's in-place functions leave in their first
// argument.
//
// Nodes never change: each returns a new tensor of x's shape and dtype, and x stays as it is.
// Values are converted to x's dtype as casting="unsafe" does (OverflowError for literals that do
// not fit) unless said otherwise. Differentiable in x and in the values.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace composit::numpy {

// take_along_axis's elements replaced by `values` (broadcast); the last wins where indices repeat.
// Errors as take_along_axis's.
[[nodiscard]] Tensor put_along_axis(const Tensor& x, const Tensor& indices, const Operand& values,
                                    std::optional<int64_t> axis);
// The main diagonal replaced by `values`, which are flattened and repeat; with `wrap`, tall
// matrices begin another after each block. ValueError: fewer than 2 dimensions; more than 2 of
// different lengths.
[[nodiscard]] Tensor fill_diagonal(const Tensor& x, const Operand& values, bool wrap = false);
// Elements of the flattened x at the indices; `values` are flattened, repeat, or are cut. Modes as
// take's. TypeError for indices that are not integers.
[[nodiscard]] Tensor put(const Tensor& x, const Tensor& indices, const Operand& values,
                         std::string_view mode = "raise");
// The k-th element where the mask, of as many elements as x, holds becomes the k-th value; values
// repeat. TypeError where casting="safe" forbids their conversion; ValueError: sizes differ, or no
// values.
[[nodiscard]] Tensor place(const Tensor& x, const Tensor& mask, const Operand& values);
// Element i of the flattened x becomes values[i] (values repeat) where mask[i] holds. TypeError
// where casting="safe" forbids their conversion; ValueError: sizes differ.
[[nodiscard]] Tensor putmask(const Tensor& x, const Tensor& mask, const Operand& values);
// `source` broadcast to x's shape, where the mask (broadcast) holds. Casting as NumPy's, "no",
// "equiv", "safe", "same_kind" or "unsafe". TypeError where it forbids; ValueError: shapes.
[[nodiscard]] Tensor copyto(const Tensor& x, const Operand& source,
                            std::string_view casting = "same_kind", const Operand& where = {});

}  // namespace composit::numpy
