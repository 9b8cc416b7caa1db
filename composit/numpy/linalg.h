// numpy.linalg: products, powers and norms of matrices, solutions and decompositions.
//
// Leading axes of a tensor are a batch of matrices (…, m, n). Each function is NumPy's of that name.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::numpy::linalg {

// ----- products; sums as those of numpy/linear.h
// The cross product of vectors of three elements along one axis of both. ValueError for others.
[[nodiscard]] Tensor cross(const Tensor& x1, const Tensor& x2, int64_t axis = -1);
// The diagonals of the matrices in the last two axes: a view.
[[nodiscard]] Tensor diagonal(const Tensor& x, int64_t offset = 0);
[[nodiscard]] Tensor matmul(const Tensor& x1, const Tensor& x2);
[[nodiscard]] Tensor matrix_transpose(const Tensor& x);
// The product of two or more matrices, bracketed so that it takes the fewest multiplications; the
// first may be a row, the last a column (1-d). ValueError: fewer; LinAlgError: other shapes.
[[nodiscard]] Tensor multi_dot(const std::vector<Tensor>& arrays);
// Products of all pairs. ValueError unless both have one dimension.
[[nodiscard]] Tensor outer(const Tensor& x1, const Tensor& x2);
[[nodiscard]] Tensor tensordot(const Tensor& x1, const Tensor& x2, int64_t axes = 2);
[[nodiscard]] Tensor tensordot(const Tensor& x1, const Tensor& x2,
                               const std::vector<int64_t>& axes1,
                               const std::vector<int64_t>& axes2);
// Sums of the diagonals of the last two axes; elements are converted to `dtype` first.
[[nodiscard]] Tensor trace(const Tensor& x, int64_t offset = 0, std::optional<DType> dtype = {});
[[nodiscard]] Tensor vecdot(const Tensor& x1, const Tensor& x2, int64_t axis = -1);

}  // namespace composit::numpy::linalg
