// PyTorch's solutions and factors of matrices where NumPy has no function, or one of other rules.
//
// Leading axes are a batch of matrices (…, m, n). All are graphs of products and selections, so
// that gradients go through them; shapes that do not fit are the ValueErrors of those.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace composit::aten {

using ir::Tensor;
using numpy::Operand;

// L (with ones on its diagonal, left out) and U in one matrix, by Gauss with pivots; the rows that
// were taken, int32, counted from 1 (…, min(m, n)); and the order of the rows (…, m).
struct LuResult {
    Tensor lu, pivots, order;
};
[[nodiscard]] LuResult lu_factor(const Tensor& a);
// L (…, m, k) and U (…, k, n) of one matrix, k = min(m, n).
[[nodiscard]] std::pair<Tensor, Tensor> split_lu(const Tensor& lu);
// The order of so many rows that pivots, counted from 1, say.
[[nodiscard]] Tensor order_of(const Tensor& pivots, int64_t rows);
// The P with P @ L @ U = A, of a dtype, from the order of rows.
[[nodiscard]] Tensor permutation_of(const Tensor& order, ir::DType dtype);
// P, L and U with P L U = A, of A's lu and its pivots; empty where they are not asked for.
struct UnpackedLu {
    Tensor permutation, lower, upper;
};
[[nodiscard]] UnpackedLu unpack_lu(const Tensor& lu, const Tensor& pivots, bool unpacks_data = true,
                                   bool unpacks_pivots = true);
// X of A X = B (of X A = B without `left`; of Aᴴ if `adjoint`), from A's lu and pivots.
[[nodiscard]] Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b,
                              bool left = true, bool adjoint = false);

// The product (…, m, m) of the Householder reflections whose vectors stand below the diagonal.
[[nodiscard]] Tensor householder_product(const Tensor& vectors, const Tensor& tau);

// X of A X = B, of X A = B without `left`. B is a vector, or a batch of them, where it has one axis
// less than A and A's leading shape.
[[nodiscard]] Tensor solve(const Tensor& a, const Tensor& b, bool left = true);
// The same of A's upper or lower triangle; `unitriangular`: with ones on its diagonal.
[[nodiscard]] Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper,
                                      bool left = true, bool unitriangular = false);
// X that minimises |A X - B| for matrices of full rank, and the sums of its squares; those are
// empty unless there are more rows than columns.
[[nodiscard]] std::pair<Tensor, Tensor> lstsq(const Tensor& a, const Tensor& b);

// The pseudo-inverse; singular values up to the larger of `atol` and `rtol` times the largest count
// as zero. rtol, unless given: the precision times the longer side.
[[nodiscard]] Tensor pinv(const Tensor& a, const Operand& atol = 0.0, const Operand& rtol = {});
// How many singular values are above `tol`, or above the bound of pinv; with `atol` alone rtol is
// 0.
[[nodiscard]] Tensor matrix_rank(const Tensor& a, const Operand& tol = {}, const Operand& atol = {},
                                 const Operand& rtol = {});

// U (…, m, q), S (…, q) and V (…, n, q) with U diag(S) V^H near A, of the rank q of `drawn` (n, q)
// — (m, q) where A has fewer rows than columns —, normal numbers: by `iterations` products with A
// and its adjoint (Halko et al., arXiv 0909.4061, algorithm 5.1).
struct LowRank {
    Tensor u, s, v;
};
[[nodiscard]] LowRank svd_lowrank(const Tensor& a, const Tensor& drawn, int64_t iterations = 2);

// e to the power of A: Taylor's polynomial of a matrix halved until its norm is at most 1/2,
// squared as often, at most 16 times (beyond, all overflows).
[[nodiscard]] Tensor matrix_exp(const Tensor& a);
// Powers 0, 1, …, `columns` - 1 (as many as x is long) of x along a new last axis.
[[nodiscard]] Tensor vander(const Tensor& x, std::optional<int64_t> columns = {});

}  // namespace composit::aten
