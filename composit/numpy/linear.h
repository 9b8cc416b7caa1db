// Products of matrices and tensors: contractions with NumPy's rules.
//
// Operands are promoted to their result_type first. Sums run in the order of docs/semantics.md 3.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::numpy {

// a (…, m, k) @ b (…, k, n) -> (…, m, n): leading axes broadcast; a 1-d operand is a row (a) or a
// column (b) whose axis is dropped from the result. ValueError:
//   matmul: inner dimensions differ: a has shape (3, 4), b has shape (5, 6). a.shape[1] must equal
//   … matmul: operand 0 is a scalar. …
[[nodiscard]] Tensor matmul(const Tensor& a, const Tensor& b);
// multiply for scalars; else the sum over the last axis of a and the last but one (or only) axis of
// b.
[[nodiscard]] Tensor dot(const Tensor& a, const Tensor& b);
// multiply for scalars; else the sum over the last axes of both.
[[nodiscard]] Tensor inner(const Tensor& a, const Tensor& b);
// (a.size, b.size): products of all pairs of the flattened operands.
[[nodiscard]] Tensor outer(const Tensor& a, const Tensor& b);
// 0-d: sum of conj(a) * b over the flattened operands.
[[nodiscard]] Tensor vdot(const Tensor& a, const Tensor& b);
// Sum over the last `axes` axes of a paired with the first of b; or over the listed pairs.
// ValueError: "shape-mismatch for sum". Result: the other axes of a, then those of b.
[[nodiscard]] Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes = 2);
[[nodiscard]] Tensor tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& axes_a,
                               const std::vector<int64_t>& axes_b);
// Einstein's summation, "ij,jk->ik" or "ij,jk"; letters, "..." and repeated letters (diagonals) as
// in NumPy. More than two operands are contracted from left to right. ValueError with NumPy's
// sentences.
[[nodiscard]] Tensor einsum(std::string_view subscripts, const std::vector<Tensor>& operands);

// The elements x[…, i, i + offset, …] of axes axis1 and axis2, moved to the last axis: a view.
[[nodiscard]] Tensor diagonal(const Tensor& x, int64_t offset = 0, int64_t axis1 = 0,
                              int64_t axis2 = 1);
// Their sum, dtypes as sum's.
[[nodiscard]] Tensor trace(const Tensor& x, int64_t offset = 0, int64_t axis1 = 0,
                           int64_t axis2 = 1);
// 1-d -> the matrix with x on its k-th diagonal; 2-d -> its k-th diagonal.
[[nodiscard]] Tensor diag(const Tensor& x, int64_t k = 0);

}  // namespace composit::numpy
