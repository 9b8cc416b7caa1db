// cholesky, solve, inv and slogdet.
//
// Derivatives: M. B. Giles, "Collected matrix derivative results for forward and reverse mode
// algorithmic differentiation" (2008); of cholesky: I. Murray, "Differentiation of the Cholesky
// decomposition" (2016), spread over both triangles.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/checks.h"
#include "composit/ops/components.h"
#include "composit/ops/decompositions.h"
#include "composit/ops/foreign.h"
#include "composit/ops/lift.h"
#include "composit/ops/matrices.h"
#include "composit/ops/rules.h"

namespace composit::ops {
namespace {

std::vector<TensorType> like_the_first(const Tensors& x, const Attributes&) {
    return {{x[0].shape(), x[0].dtype()}};
}

// With S = L⁻ᴴ P L⁻¹, where P is the lower triangle of Lᴴ G with half its diagonal: (S + Sᴴ) / 2.
Tensors vjp_cholesky(const Node& node, const Tensors& gradients, const Wanted&) {
    const bool is_upper = node.attributes().get<bool>("upper");
    const Tensor y(Ref<Node>(&node), 0);
    const Tensor factor = is_upper ? adjoint(y) : y;
    const Tensor gradient = is_upper ? adjoint(gradients[0]) : gradients[0];
    const Tensor above = adjoint(factor);
    const Tensor middle = half_lower_triangle(product(above, gradient));
    const Tensor inner = adjoint(solve(above, adjoint(solve(above, middle))));
    return {halved(plus(inner, adjoint(inner)))};
}

const ir::Operation& cholesky_operation() {
    static const ir::Operation& operation = register_foreign(
        {
            .name = "cholesky",
            .doc = "The Cholesky factor of Hermitian positive definite matrices; foreign.",
            .infer = like_the_first,
            .vjp = vjp_cholesky,
            .check =
                [](const Tensors& x, const Attributes& attributes) {
                    check_matrices("cholesky", x, {.is_square = true});
                    ir::checked_attribute<bool>("cholesky", attributes, "upper");
                },
        },
        [](const Attributes& attributes) -> ForeignCallee {
            return {"lapack.cholesky", {attributes.get<bool>("upper")}};
        });
    return operation;
}

Tensors vjp_solve(const Node& node, const Tensors& gradients, const Wanted& wanted) {
    const Tensor right = solve(adjoint(node.operand(0)), gradients[0]);
    Tensor left;
    if (wanted[0]) left = map("negative", {product(right, adjoint(Tensor(Ref<Node>(&node), 0)))});
    return {left, right};
}

const ir::Operation& solve_operation() {
    static const ir::Operation& operation = register_foreign(
        {
            .name = "solve",
            .doc = "x of a x = b, by LU factors; foreign.",
            .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
                return {{x[1].shape(), x[1].dtype()}};
            },
            .vjp = vjp_solve,
            .check =
                [](const Tensors& x, const Attributes&) {
                    check_matrices("solve", x, {.count = 2, .matrices = 2, .is_square = true});
                    user_check(x[0].shape().back() == x[1].shape()[x[1].shape().size() - 2],
                               "solve: a has shape ", x[0].shape(), ", b has shape ", x[1].shape(),
                               ". As many rows of b as of a are required.");
                },
        },
        [](const Attributes&) -> ForeignCallee { return {"lapack.solve", {}}; });
    return operation;
}

Tensors vjp_inv(const Node& node, const Tensors& gradients, const Wanted&) {
    const Tensor inverse = adjoint(Tensor(Ref<Node>(&node), 0));
    return {map("negative", {product(product(inverse, gradients[0]), inverse)})};
}

const ir::Operation& inv_operation() {
    static const ir::Operation& operation = register_foreign(
        {
            .name = "inv",
            .doc = "The inverse of matrices, by LU factors; foreign.",
            .infer = like_the_first,
            .vjp = vjp_inv,
            .check =
                [](const Tensors& x, const Attributes& attributes) {
                    check_matrices("inv", x, {.is_square = true});
                    ir::checked_attribute<bool>("inv", attributes, "nan_if_singular");
                },
        },
        [](const Attributes& attributes) -> ForeignCallee {
            return {"lapack.inv", {attributes.get<bool>("nan_if_singular")}};
        });
    return operation;
}

// (g of the logarithm + g of the determinant * its conjugate + i c) a⁻ᴴ. The sign of a real matrix
// is constant; that of a complex one turns, which moves what is wanted by c = - Im(conj(g) sign).
Tensors vjp_slogdet(const Node& node, const Tensors& gradients, const Wanted&) {
    const auto output = [&](int i) { return Tensor(Ref<Node>(&node), i); };
    Tensor scale = gradients[1];
    if (gradients[2]) scale = add_gradients(scale, times(gradients[2], conjugated(output(2))));
    if (gradients[0] && ir::is_complex(gradients[0].dtype())) {
        const Tensor turn = map("imag", {times(gradients[0], conjugated(output(0)))});
        scale = add_gradients(scale, map("as_complex", {zeros_like(turn), turn}));
    }
    if (!scale) return {Tensor()};
    return {times(as_column(as_column(scale)), inv(adjoint(node.operand(0))))};
}

const ir::Operation& slogdet_operation() {
    static const ir::Operation& operation = register_foreign(
        {
            .name = "slogdet",
            .doc = "Sign and logarithm of determinants, and determinants, by LU factors; foreign.",
            .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
                const Shape shape(x[0].shape().begin(), x[0].shape().end() - 2);
                return {{shape, x[0].dtype()}, {shape, DType::float64}, {shape, x[0].dtype()}};
            },
            .vjp = vjp_slogdet,
            .check = [](const Tensors& x,
                        const Attributes&) { check_matrices("slogdet", x, {.is_square = true}); },
        },
        [](const Attributes&) -> ForeignCallee { return {"lapack.slogdet", {}}; });
    return operation;
}

}  // namespace

Tensor cholesky(const Tensor& a, bool upper) {
    return make_checked(cholesky_operation(), {a}, {{"upper", upper}})[0];
}

Tensor solve(const Tensor& a, const Tensor& b) {
    return make_checked(solve_operation(), {a, b}, {})[0];
}

Tensor inv(const Tensor& a, bool nan_if_singular) {
    return make_checked(inv_operation(), {a}, {{"nan_if_singular", nan_if_singular}})[0];
}

std::vector<Tensor> slogdet(const Tensor& a) { return make_checked(slogdet_operation(), {a}, {}); }

void register_solve() {
    cholesky_operation();
    solve_operation();
    inv_operation();
    slogdet_operation();
}

}  // namespace composit::ops
