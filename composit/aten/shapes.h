// PyTorch's functions of shapes: the same elements under another shape, parts, joins and padding.
//
//   flatten(x, 1)            // (batch, channels, rows, columns) as (batch, …)
//   split(x, 2, -1)          // parts of two columns
//   pad(x, {1, 1, 0, 2})     // one column before and after, two rows below
//
// `dim` may be negative (IndexError where it is out of range). Unless it is said otherwise a
// result has x's dtype, and is a view: it costs nothing when it is evaluated. ValueErrors are what
// PyTorch raises RuntimeError for.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::aten {

using ir::Shape;
using ir::Tensor;
using numpy::Axis;

// `dim` counted from the first of `rank` dimensions; no dimensions count as one. IndexError:
// "Dimension out of range (expected to be in range of [-2, 1], but got 2)".
[[nodiscard]] int64_t dimension_of(int64_t dim, int64_t rank);

// ----- the same elements
// In row-major order; one length may be -1. ValueError: "shape '[4, 2]' is invalid for input of
// size 6".
[[nodiscard]] Tensor reshape(const Tensor& x, const Shape& shape);
// The dimensions from start_dim to end_dim as one; a tensor without dimensions as one of one
// element.
[[nodiscard]] Tensor flatten(const Tensor& x, int64_t start_dim = 0, int64_t end_dim = -1);
// One dimension as several, of which one length may be -1.
[[nodiscard]] Tensor unflatten(const Tensor& x, int64_t dim, const Shape& sizes);
// Without dimensions of length 1: of all, or of those given, whose other lengths stay.
[[nodiscard]] Tensor squeeze(const Tensor& x, const Axis& dim = {});
// With a dimension of length 1 before `dim`, or behind the last.
[[nodiscard]] Tensor unsqueeze(const Tensor& x, int64_t dim);
// Two dimensions exchanged; a tensor without dimensions is itself.
[[nodiscard]] Tensor transpose(const Tensor& x, int64_t dim0, int64_t dim1);
// Dimensions of length 1 repeated, and new ones in front; -1 keeps a length.
[[nodiscard]] Tensor expand(const Tensor& x, const Shape& sizes);
// The sum over what was broadcast from a shape: no view where anything was. ValueError for a shape
// that does not broadcast to x's.
[[nodiscard]] Tensor sum_to_size(const Tensor& x, const Shape& size);

// ----- parts
// One place of a dimension, which goes.
[[nodiscard]] Tensor select(const Tensor& x, int64_t dim, const numpy::IndexEntry& index);
// x.narrow(dim, start, length); a negative start counts from the end. ValueError where the part
// does not lie within x.
[[nodiscard]] Tensor narrow(const Tensor& x, int64_t dim, int64_t start, int64_t length);
// Parts of one length, of which the last may be shorter; one part of an empty dimension.
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, int64_t size, int64_t dim = 0);
// Parts of these lengths. ValueError unless they add up to the dimension's.
[[nodiscard]] std::vector<Tensor> split(const Tensor& x, const std::vector<int64_t>& sizes,
                                        int64_t dim = 0);
// At most so many parts of one length. RuntimeError below 1.
[[nodiscard]] std::vector<Tensor> chunk(const Tensor& x, int64_t chunks, int64_t dim = 0);
// So many parts, of which the first are one longer where it does not divide; or parts before each
// of these places, as slices. RuntimeError for no parts.
[[nodiscard]] std::vector<Tensor> tensor_split(const Tensor& x, int64_t sections, int64_t dim = 0);
[[nodiscard]] std::vector<Tensor> tensor_split(const Tensor& x, const std::vector<int64_t>& indices,
                                               int64_t dim = 0);
// Each place of a dimension.
[[nodiscard]] std::vector<Tensor> unbind(const Tensor& x, int64_t dim = 0);

// ----- rearranged copies
// Elements moved `shifts` places along `dims`, those that leave come in on the other side; without
// dims the flattened tensor by one shift. RuntimeError unless there are as many shifts as dims.
[[nodiscard]] Tensor roll(const Tensor& x, const std::vector<int64_t>& shifts,
                          const Axis& dims = {});
// The triangles of matrices. RuntimeError below two dimensions.
[[nodiscard]] Tensor tril(const Tensor& x, int64_t diagonal = 0);
[[nodiscard]] Tensor triu(const Tensor& x, int64_t diagonal = 0);
// Matrices, in the dimensions dim1 and dim2 of the result, with x's last dimension on a diagonal.
// ValueError where dim1 is dim2.
[[nodiscard]] Tensor diag_embed(const Tensor& x, int64_t offset = 0, int64_t dim1 = -2,
                                int64_t dim2 = -1);
// A matrix with these on its diagonal: matrices, rows and numbers, in their common dtype.
[[nodiscard]] Tensor block_diag(const std::vector<Tensor>& parts);
// Grids of the elements of tensors of at most one dimension. RuntimeError for more.
[[nodiscard]] std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors,
                                           std::string_view indexing = "ij");
// All combinations of the elements of rows, one in each row of the result; of one tensor itself.
[[nodiscard]] Tensor cartesian_prod(const std::vector<Tensor>& tensors);

// Elements around x: "constant", "reflect", "replicate" or "circular" (ValueError for others).
// `widths` are (before, after) of the last dimension, then of the one before it, …; negative ones
// crop. Constant ones are `value`, of x's dtype. RuntimeError for a reflection of as many elements
// as there are, or more.
[[nodiscard]] Tensor pad(const Tensor& x, const std::vector<int64_t>& widths,
                         std::string_view mode = "constant", const numpy::Operand& value = 0);

}  // namespace composit::aten
