// Index arrays: grids of positions, triangles and diagonals, and positions of what is not zero.
//
// Indices are int64. Each function is NumPy's of that name (numpy.tril_indices, …). Where the
// result's shape depends on values, they are evaluated at the call (NotSupported under
// placeholders), as nonzero does.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::numpy {

// `rank` times the same range of n: the diagonal of a hypercube.
[[nodiscard]] std::vector<Tensor> diag_indices(int64_t n, int64_t rank = 2);
// ValueError: fewer than two dimensions, or lengths that differ.
[[nodiscard]] std::vector<Tensor> diag_indices_from(const Tensor& x);

// (rows, columns) of the elements at and below, at and above the k-th diagonal of an (n, m) matrix,
// in row-major order; m is n unless given.
[[nodiscard]] std::vector<Tensor> tril_indices(int64_t n, int64_t k = 0,
                                               std::optional<int64_t> m = {});
[[nodiscard]] std::vector<Tensor> triu_indices(int64_t n, int64_t k = 0,
                                               std::optional<int64_t> m = {});
// ValueError: "input array must be 2-d".
[[nodiscard]] std::vector<Tensor> tril_indices_from(const Tensor& x, int64_t k = 0);
[[nodiscard]] std::vector<Tensor> triu_indices_from(const Tensor& x, int64_t k = 0);
// Where mask(ones((n, n)), k) is not zero.
[[nodiscard]] std::vector<Tensor> mask_indices(
    int64_t n, const std::function<Tensor(const Tensor&, int64_t)>& mask, int64_t k = 0);

// (rank, shape…): result[d] is the position along axis d. ValueError for negative lengths.
[[nodiscard]] Tensor indices(const Shape& shape, DType dtype = DType::int64);
// The same as one tensor per axis, of length 1 along the others.
[[nodiscard]] std::vector<Tensor> sparse_indices(const Shape& shape, DType dtype = DType::int64);
// What `function` makes of indices(shape), one argument per axis.
[[nodiscard]] Tensor fromfunction(const std::function<Tensor(const std::vector<Tensor>&)>& function,
                                  const Shape& shape, DType dtype = DType::float64);
// 1-d sequences, each along an axis of its own, that select their cross product; masks become
// positions. ValueError: "Cross index must be 1 dimensional".
[[nodiscard]] std::vector<Tensor> ix_(const std::vector<Tensor>& sequences);

// Positions in the flattened tensor of `shape` of the elements at the indices, which broadcast.
// order "C" or "F". Modes: "raise", "wrap", "clip", one for all or one per axis. ValueError, out of
// bounds, at once for constants; IndexError when it is evaluated else. TypeError for indices that
// are not integers.
[[nodiscard]] Tensor ravel_multi_index(const std::vector<Tensor>& indices, const Shape& shape,
                                       const std::vector<std::string>& modes = {"raise"},
                                       std::string_view order = "C");
// The reverse: one tensor per axis, shaped as the indices. Errors as ravel_multi_index's.
[[nodiscard]] std::vector<Tensor> unravel_index(const Tensor& indices, const Shape& shape,
                                                std::string_view order = "C");

// (count, rank): positions of the elements that are not zero.
[[nodiscard]] Tensor argwhere(const Tensor& x);
// (count,): the same in the flattened x.
[[nodiscard]] Tensor flatnonzero(const Tensor& x);

}  // namespace composit::numpy
