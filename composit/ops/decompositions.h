// The primitives that LAPACK computes: kernels of the kind Foreign (docs/decisions/0011).
//
// Operands are float64 or complex128 (all alike) with at least two dimensions, the last two of
// which are matrices; batch axes are equal. Errors that depend on values are LinAlgErrors when they
// are evaluated. Names of the functions: composit/foreign.
#pragma once

#include "composit/ops/ops.h"

#include <vector>

namespace composit::ops {

// ----- solve.cpp
// The triangular L of a = L Lᴴ, of which the lower triangle is read; or U of a = Uᴴ U, from the
// upper.
Tensor cholesky(const Tensor& a, bool upper);
// x of a x = b; b is a batch of matrices, too.
Tensor solve(const Tensor& a, const Tensor& b);
// NaN instead of an error for singular matrices, where it is wished.
Tensor inv(const Tensor& a, bool nan_if_singular = false);
// (sign, logarithm of the magnitude (float64), determinant) of each matrix. The derivative needs an
// invertible matrix.
std::vector<Tensor> slogdet(const Tensor& a);

// ----- least_squares.cpp
// (x, sums of squares of the residuals, rank (int32), singular values) of the x of the smallest
// norm that minimises the norm of a x - b. rcond (float64, one per matrix): singular values at most
// rcond times the largest count as zero. Residuals are NaN unless the rank is full and a has at
// least as many rows as columns.
std::vector<Tensor> lstsq(const Tensor& a, const Tensor& b, const Tensor& rcond);
// The Moore-Penrose inverse, with rcond as lstsq's; composed of svd.
Tensor pinv(const Tensor& a, const Tensor& rcond);

// ----- decompose.cpp
enum class QrMode { reduced, complete, r, raw };
// reduced, complete: (q, r); r: (r); raw: LAPACK's factors and tau. The last, and complete of more
// rows than columns, have no derivative.
std::vector<Tensor> qr(const Tensor& a, QrMode mode);
enum class SvdVectors { none, few, all };
// (u, s, vh), or (s); s is float64.
std::vector<Tensor> svd(const Tensor& a, SvdVectors vectors);
// (w, v), or (w), of a Hermitian matrix, of which one triangle is read; w is float64.
std::vector<Tensor> eigh(const Tensor& a, bool computes_vectors, bool reads_upper);
// (w, v, is_real), or (w, is_real): complex128, or their real parts alone, as float64, of a real a;
// is_real (bool): whether all eigenvalues of the matrix are.
std::vector<Tensor> eig(const Tensor& a, bool computes_vectors, bool gives_real);

}  // namespace composit::ops
