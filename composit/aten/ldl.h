// Factors of symmetric matrices that need not be definite: A = L D Lᵀ, by Bunch and Kaufman's
// pivots, as LAPACK's sytrf (hetrf with `hermitian`: A = L D Lᴴ) has them. Lower triangles are
// read.
//
// Leading axes are a batch of matrices (…, n, n), of one floating or complex dtype of 32 bits a
// part or more. Matrices are evaluated: NotSupported under placeholders. There are no derivatives.
#pragma once

#include "composit/ir/node.h"

namespace composit::aten {

using ir::Tensor;

// D in its diagonal and, where it has blocks of two rows, the places below it; L, whose diagonal of
// ones is left out, in the rest of the lower triangle; zeros above. Pivots (…, n), int32: k + 1
// where row k was exchanged with row k, -(k + 1) for both rows of a block. info (…), int32: 0, or
// the first of D's elements, counted from 1, that is zero, and nothing can be solved then.
// RuntimeError, PyTorch's words, for what is no square matrix of such a dtype.
struct LdlResult {
    Tensor ld, pivots, info;
};
[[nodiscard]] LdlResult ldl_factor(const Tensor& a, bool hermitian = false);

// X of A X = B (…, n, k), from A's factors; batches broadcast. RuntimeError, PyTorch's words, for
// shapes and dtypes that do not fit.
[[nodiscard]] Tensor ldl_solve(const Tensor& ld, const Tensor& pivots, const Tensor& b,
                               bool hermitian = false);

}  // namespace composit::aten
