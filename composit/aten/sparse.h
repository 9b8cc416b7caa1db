// PyTorch's sparse tensors, which are coordinates and values: their shapes, and what is computed of
// them. Gradients reach the values.
//
//   sparse_to_dense(coalesce({indices, values}, {3, 4}), {3, 4})
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::aten {

using ir::Shape;
using ir::Tensor;

// The elements of a sparse tensor: coordinates, int64 of shape (sparse dimensions, count), and
// values (count, ...), whose further dimensions are dense. Values at equal coordinates count
// together.
struct SparseElements {
    Tensor indices, values;
};

// The shape of a sparse tensor whose coordinates and values have these shapes: the given one, or
// the smallest that holds coordinates from `least` to `greatest` of each dimension (both empty
// where there are no elements), then the lengths of a value. RuntimeError, PyTorch's words, for
// shapes that do not fit together, for a negative coordinate, and for one beyond the shape.
[[nodiscard]] Shape sparse_size(const Shape& indices, const Shape& values,
                                const std::vector<int64_t>& least,
                                const std::vector<int64_t>& greatest,
                                const std::optional<Shape>& given = {});
// How many of a dense tensor's dimensions become coordinates: `sparse`, or all but `dense`.
// TypeError for both, RuntimeError for a number that is not there.
[[nodiscard]] int64_t sparse_dims(int64_t rank, std::optional<int64_t> sparse,
                                  std::optional<int64_t> dense);

// The dimensions of a transposed sparse tensor, by their numbers before, of which the first
// `sparse` have coordinates. IndexError for a dimension that is not there, RuntimeError, PyTorch's
// words, for one that has no coordinates.
[[nodiscard]] std::vector<int64_t> sparse_transposed(int64_t rank, int64_t sparse, int64_t dim0,
                                                     int64_t dim1);

// The same elements with ascending coordinates, each once: values at equal ones are added up.
// Coordinates are evaluated (NotSupported under placeholders).
[[nodiscard]] SparseElements coalesce(const SparseElements& x, const Shape& shape);
// The dense tensor.
[[nodiscard]] Tensor sparse_to_dense(const SparseElements& x, const Shape& shape);
// The product of a sparse and a dense matrix, dense. RuntimeError, PyTorch's words, for what is no
// matrix of numbers, and for lengths that do not fit.
[[nodiscard]] Tensor sparse_mm(const SparseElements& x, const Shape& shape, const Tensor& dense);
// The product of a sparse matrix and a dense vector, dense. RuntimeError as above.
[[nodiscard]] Tensor sparse_mv(const SparseElements& x, const Shape& shape, const Tensor& dense);
// The values of softmax along a dimension, or of its logarithm, among the elements that are there,
// of coalesced ones: those that are not count as -infinity. IndexError for the dimension.
[[nodiscard]] Tensor sparse_softmax(const SparseElements& x, const Shape& shape, int64_t dim,
                                    bool is_log = false);

}  // namespace composit::aten
