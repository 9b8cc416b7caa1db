// Orthogonal (unitary) matrices as functions of matrices that may have any values: PyTorch's
// torch.nn.utils.parametrizations.orthogonal.
//
// Matrices are (…, n, k) with n >= k, and so are the results: k orthonormal columns.
#pragma once

#include "composit/ir/node.h"

#include <string_view>

namespace composit::aten {

using ir::Tensor;

// From the lower triangle of x, made a skew-symmetric (skew-Hermitian) matrix A of n rows: the
// first k columns of exp(A) ("matrix_exp") or of (I - A / 2)^-1 (I + A / 2) ("cayley"); or the
// product of the Householder reflections of the columns below the diagonal, times the diagonal's
// whole part, which has no derivative ("householder", of real matrices). ValueError, PyTorch's
// words, for another map.
[[nodiscard]] Tensor orthogonal(const Tensor& x, std::string_view map);

// The x with orthogonal(x, "householder") = q for orthonormal columns q, or, for others, the Q of
// their QR factors with a positive diagonal of R.
[[nodiscard]] Tensor householder_form(const Tensor& q);
// That Q itself; of complex matrices too.
[[nodiscard]] Tensor nearest_orthogonal(const Tensor& a);

}  // namespace composit::aten
