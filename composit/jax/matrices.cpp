// Factors of matrices, in float64 and complex128 as composit's are; results have the operand's
// dtype.
#include "composit/ops/matrices.h"

#include "composit/aten/linalg.h"
#include "composit/base/error.h"
#include "composit/jax/rules.h"
#include "composit/ops/decompositions.h"

namespace composit::jax {
namespace {

Tensor wide_matrix(const Tensor& x) {
    return ops::astype(x, ir::is_complex(x.dtype()) ? DType::complex128 : DType::float64);
}

Tensors narrowed(const Tensors& made, DType dtype) {
    Tensors results;
    for (const Tensor& x : made)
        results.push_back(ops::astype(x, ir::is_complex(x.dtype()) || !ir::is_complex(dtype)
                                             ? dtype
                                             : ir::real_part_of(dtype)));
    return results;
}

// X of A X = B, or of X A = B; of A's transpose or adjoint.
Tensor triangular_solution(const Application& a) {
    Tensor matrix = wide_matrix(a.x[0]), right = wide_matrix(a.x[1]);
    matrix = a.flag("lower") ? ops::lower_triangle(matrix) : ops::upper_triangle(matrix);
    if (a.flag("unit_diagonal"))
        matrix = ops::plus(ops::off_diagonal(matrix), ops::identity_like(matrix));
    if (a.flag("conjugate_a")) matrix = ops::map("conjugate", {matrix});
    bool is_transposed = a.flag("transpose_a");
    const bool is_left = a.flag("left_side");
    if (!is_left) {
        is_transposed = !is_transposed;
        right = ops::transposed(right);
    }
    if (is_transposed) matrix = ops::transposed(matrix);
    const Tensor made = ops::solve(matrix, right);
    return ops::astype(is_left ? made : ops::transposed(made), a.x[1].dtype());
}

Tensors lu(const Application& a) {
    const aten::LuResult made = aten::lu_factor(wide_matrix(a.x[0]));
    const Tensor one = integer_number(DType::int32, 1);
    return {ops::astype(made.lu, a.x[0].dtype()),
            ops::map("subtract", {ops::astype(made.pivots, DType::int32), one}),
            ops::astype(made.order, DType::int32)};
}

}  // namespace

void add_matrix_primitives(ApplyRules& rules) {
    rules["triangular_solve"] = [](const Application& a) {
        return Tensors{triangular_solution(a)};
    };
    rules["cholesky"] = [](const Application& a) {
        const bool is_upper = a.parameters.has("upper") && a.flag("upper");
        return narrowed({ops::cholesky(wide_matrix(a.x[0]), is_upper)}, a.x[0].dtype());
    };
    rules["lu"] = lu;
    rules["lu_pivots_to_permutation"] = [](const Application& a) {
        const Tensor counted_from_1 =
            ops::map("add", {ops::astype(a.x[0], DType::int32), integer_number(DType::int32, 1)});
        return Tensors{ops::astype(aten::order_of(counted_from_1, a.integer("permutation_size")),
                                   DType::int32)};
    };
    rules["qr"] = [](const Application& a) {
        const auto mode = a.flag("full_matrices") ? ops::QrMode::complete : ops::QrMode::reduced;
        user_check<NotSupported>(!a.parameters.has("pivoting") || !a.flag("pivoting"),
                                 "trace_jax: qr with pivoting. One without is required.");
        return narrowed(ops::qr(wide_matrix(a.x[0]), mode), a.x[0].dtype());
    };
    rules["svd"] = [](const Application& a) {
        const Tensor x = wide_matrix(a.x[0]);
        if (!a.flag("compute_uv"))
            return narrowed(ops::svd(x, ops::SvdVectors::none), a.x[0].dtype());
        const Tensors made =
            ops::svd(x, a.flag("full_matrices") ? ops::SvdVectors::all : ops::SvdVectors::few);
        return narrowed({made[1], made[0], made[2]}, a.x[0].dtype());
    };
    rules["eigh"] = [](const Application& a) {
        const Tensors made = ops::eigh(wide_matrix(a.x[0]), true, !a.flag("lower"));
        return narrowed({made[1], made[0]}, a.x[0].dtype());
    };
}

}  // namespace composit::jax
