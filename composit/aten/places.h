// Elements read from and written to places that tensors name: PyTorch's gather, scatter, put and
// index functions.
//
//   scatter(x, 0, index, source)      // x with x[index[i, j], j] = source[i, j]
//
// `dim` may be negative. A tensor without dimensions counts as a row of one element. Functions that
// write return a new tensor of x's shape and dtype. Where an index names an element twice, the last
// value stays, or all are combined, in order. IndexError: an index is out of bounds. Indices of
// folds other than sums are evaluated (NotSupported under placeholders).
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace composit::aten {

using ir::Tensor;
using numpy::Operand;

// Indices of x's elements along a dimension that are counted from the first alone, as PyTorch's:
// negative ones are made too large, so that they are refused as those are. IndexError for a
// dimension that x has not.
[[nodiscard]] Tensor counted_from_first(const Tensor& index, const Tensor& x, int64_t dim);
// RuntimeError, PyTorch's words, for an index that has not as many dimensions as x, "self" or
// "input", unless it is empty.
void check_index_rank(const Tensor& index, const Tensor& x, std::string_view name = "self");

// result[i, j] = x[index[i, j], j] for dim 0; the index may be shorter than x along other axes.
[[nodiscard]] Tensor gather(const Tensor& x, int64_t dim, const Tensor& index);
// The slices that a row of indices names.
[[nodiscard]] Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index);
// NumPy's take_along_axis; none: of the flattened tensors, flat.
[[nodiscard]] Tensor take_along_dim(const Tensor& x, const Tensor& index,
                                    std::optional<int64_t> dim = {});

// The source, or the part of it that is as long as the index, written over x; with `reduce` "add"
// or "multiply" combined with what is there.
[[nodiscard]] Tensor scatter(const Tensor& x, int64_t dim, const Tensor& index,
                             const Operand& source, std::string_view reduce = {});
// The same by "sum", "prod", "mean", "amax" or "amin" (RuntimeError for others); without
// `include_self`, x's own elements do not count where others come.
[[nodiscard]] Tensor scatter_reduce(const Tensor& x, int64_t dim, const Tensor& index,
                                    const Tensor& source, std::string_view reduce,
                                    bool include_self = true);

// Whole slices along `dim`, at the places of a row of indices: the source, or alpha times it,
// added, written, combined as in scatter_reduce.
[[nodiscard]] Tensor index_add(const Tensor& x, int64_t dim, const Tensor& index,
                               const Tensor& source, const Operand& alpha = {});
[[nodiscard]] Tensor index_copy(const Tensor& x, int64_t dim, const Tensor& index,
                                const Operand& source);
[[nodiscard]] Tensor index_reduce(const Tensor& x, int64_t dim, const Tensor& index,
                                  const Tensor& source, std::string_view reduce,
                                  bool include_self = true);

// The source at places of the flattened x, or added to what is there.
[[nodiscard]] Tensor put(const Tensor& x, const Tensor& index, const Operand& source,
                         bool accumulate = false);
// The elements of the source, in order, where the mask, which broadcasts to x, is true.
[[nodiscard]] Tensor masked_scatter(const Tensor& x, const Tensor& mask, const Tensor& source);

// The rows of `data` reduced by "sum", "mean", "max", "min" or "prod" (RuntimeError for others) in
// segments of `lengths`, or, with `are_offsets`, between neighbours of them. Each begins with
// `initial`; unless it is given, with what changes nothing, and the mean of no rows is NaN.
// RuntimeError, for lengths that do not add up to the number of rows, unless they are `unsafe`,
// else they are evaluated.
[[nodiscard]] Tensor segment_reduce(const Tensor& data, std::string_view reduce,
                                    const Tensor& lengths, bool are_offsets = false,
                                    bool unsafe = false, std::optional<double> initial = {});

}  // namespace composit::aten
