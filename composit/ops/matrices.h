// Derivatives of matrix functions are made of these: products, adjoints and triangles of the
// matrices in the last two axes. Batch axes are equal.
#pragma once

#include "composit/ops/ops.h"

namespace composit::ops {

// Lengths of the last two axes, and of those before them.
[[nodiscard]] inline int64_t rows(const Tensor& x) { return x.shape()[x.shape().size() - 2]; }
[[nodiscard]] inline int64_t columns(const Tensor& x) { return x.shape().back(); }
[[nodiscard]] inline Shape batch_of(const Tensor& x) {
    return {x.shape().begin(), x.shape().end() - 2};
}

Tensor plus(const Tensor& a, const Tensor& b);
Tensor minus(const Tensor& a, const Tensor& b);
Tensor times(const Tensor& a, const Tensor& b);  // elementwise
Tensor halved(const Tensor& x);

// a b; a bᴴ and aᴴ b are products of adjoints, which are views.
Tensor product(const Tensor& a, const Tensor& b);
Tensor transposed(const Tensor& x);
// The conjugate transpose.
Tensor adjoint(const Tensor& x);
// x times the identity of its side: what is 1 for numbers.
Tensor identity_like(const Tensor& x);
// Vectors as diagonals, x[..., i] at [..., i, i].
Tensor diagonal_matrix(const Tensor& x);
// x[...] as x[..., None] or x[..., None, :], so that it scales rows or columns.
Tensor as_column(const Tensor& x);
Tensor as_row(const Tensor& x);
// x where row >= column (or <=), else 0.
Tensor lower_triangle(const Tensor& x);
Tensor upper_triangle(const Tensor& x);
// The same with half of the diagonal.
Tensor half_lower_triangle(const Tensor& x);
// Without its diagonal.
Tensor off_diagonal(const Tensor& x);
// Columns (or rows) start … start + count - 1.
Tensor columns_of(const Tensor& x, int64_t start, int64_t count);
Tensor rows_of(const Tensor& x, int64_t start, int64_t count);

}  // namespace composit::ops
