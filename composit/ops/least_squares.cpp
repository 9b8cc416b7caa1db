// lstsq and pinv.
//
// Derivatives where the rank does not change: G. H. Golub and V. Pereyra, "The differentiation of
// pseudo-inverses and nonlinear least squares problems whose variables separate" (1973).
#include "composit/base/error.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/decompositions.h"
#include "composit/ops/foreign.h"
#include "composit/ops/lift.h"
#include "composit/ops/matrices.h"
#include "composit/ops/rules.h"

namespace composit::ops {
namespace {

Shape with_last(Shape shape, std::initializer_list<int64_t> last) {
    shape.insert(shape.end(), last);
    return shape;
}

void check_rcond(std::string_view operation, const Tensor& a, const Tensor& rcond) {
    user_check(rcond.dtype() == DType::float64 && rcond.shape() == batch_of(a), operation,
               ": rcond has type ", rcond.type(), ". float64, one for each matrix, is required.");
}

// With P = a⁺ and r = b - a x: dx = P db - P da x + P Pᴴ daᴴ r + (1 - P a) daᴴ Pᴴ x.
void add_solution(const Node& node, const Tensor& g, Tensor& left, Tensor& right) {
    const Tensor &a = node.operand(0), &b = node.operand(1);
    const Tensor x(Ref<Node>(&node), 0);
    const Tensor p = pinv(a, node.operand(2)), back = product(adjoint(p), g);
    const Tensor r = minus(b, product(a, x));
    left = minus(product(r, adjoint(product(p, back))), product(back, adjoint(x)));
    left =
        plus(left, product(product(adjoint(p), x), adjoint(minus(g, product(p, product(a, g))))));
    right = back;
}

// The sums of |r|², whose r is orthogonal to what moves x.
void add_residuals(const Node& node, const Tensor& g, Tensor& left, Tensor& right) {
    const Tensor x(Ref<Node>(&node), 0);
    const Tensor r = minus(node.operand(1), product(node.operand(0), x));
    const Tensor step = times(times(ir::weak_scalar(2.0), r), as_row(g));
    left = add_gradients(left, map("negative", {product(step, adjoint(x))}));
    right = add_gradients(right, step);
}

Tensors vjp_lstsq(const Node& node, const Tensors& gradients, const Wanted&) {
    Tensor left, right;
    if (gradients[0]) add_solution(node, gradients[0], left, right);
    if (gradients[1]) add_residuals(node, gradients[1], left, right);
    if (gradients[3]) {  // of singular values, each by its vectors
        const Tensors parts = svd(node.operand(0), SvdVectors::few);
        left = add_gradients(left, product(times(parts[0], as_row(gradients[3])), parts[2]));
    }
    return {left, right, Tensor()};
}

const ir::Operation& lstsq_operation() {
    static const ir::Operation& operation = register_foreign(
        {
            .name = "lstsq",
            .doc = "The x of the smallest norm that minimises the norm of a x - b; foreign.",
            .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
                const Shape batch = batch_of(x[0]);
                return {{with_last(batch, {columns(x[0]), columns(x[1])}), x[0].dtype()},
                        {with_last(batch, {columns(x[1])}), DType::float64},
                        {batch, DType::int32},
                        {with_last(batch, {std::min(rows(x[0]), columns(x[0]))}), DType::float64}};
            },
            .vjp = vjp_lstsq,
            .check =
                [](const Tensors& x, const Attributes&) {
                    check_matrices("lstsq", x, {.count = 3, .matrices = 2});
                    check_rcond("lstsq", x[0], x[2]);
                    user_check(rows(x[0]) == rows(x[1]), "lstsq: a has shape ", x[0].shape(),
                               ", b has shape ", x[1].shape(),
                               ". As many rows of b as of a are required.");
                },
        },
        [](const Attributes&) -> ForeignCallee { return {"lapack.lstsq", {}}; });
    return operation;
}

// V (Uᴴ / s) where s > rcond max(s), which has zeros for the others.
Tensors decomposed_pinv(const Node& node) {
    const Tensor &a = node.operand(0), &rcond = node.operand(1);
    if (a.size() == 0 || std::min(rows(a), columns(a)) == 0) {
        const Shape shape = with_last(batch_of(a), {columns(a), rows(a)});
        return {full(shape, ir::constant(Array::zeros(a.dtype(), {})))};
    }
    const Tensors parts = svd(a, SvdVectors::few);
    const Tensor& s = parts[1];
    const Tensor most = reduce(Combiner::maximum, s, {s.rank() - 1}, true);
    const Tensor is_large = map("greater", {s, times(as_column(rcond), most)});
    const Tensor zero = ir::constant(Array::scalar(DType::float64, 0));
    const Tensor inverse = map("where", {is_large, map("divide", {ir::weak_scalar(1.0), s}), zero});
    return {product(adjoint(parts[2]), times(as_column(inverse), adjoint(parts[0])))};
}

// dP = - P da P + P Pᴴ daᴴ (1 - a P) + (1 - P a) daᴴ Pᴴ P
Tensors vjp_pinv(const Node& node, const Tensors& gradients, const Wanted&) {
    const Tensor &a = node.operand(0), &g = gradients[0];
    const Tensor p(Ref<Node>(&node), 0), q = adjoint(p), h = adjoint(g);
    const Tensor first = product(product(q, g), q);
    const Tensor hp = product(h, p), ph = product(p, h);
    const Tensor second = product(minus(hp, product(a, product(p, hp))), q);
    const Tensor third = product(q, minus(ph, product(product(ph, p), a)));
    return {plus(minus(second, first), third), Tensor()};
}

const ir::Operation& pinv_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "pinv",
        .doc = "The Moore-Penrose inverse of matrices, of svd.",
        .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
            return {{with_last(batch_of(x[0]), {columns(x[0]), rows(x[0])}), x[0].dtype()}};
        },
        .vjp = vjp_pinv,
        .batch = batched_alike,
        .decompose = decomposed_pinv,
        .check =
            [](const Tensors& x, const Attributes&) {
                check_matrices("pinv", x, {.count = 2});
                check_rcond("pinv", x[0], x[1]);
            },
    });
    return operation;
}

}  // namespace

std::vector<Tensor> lstsq(const Tensor& a, const Tensor& b, const Tensor& rcond) {
    return make_checked(lstsq_operation(), {a, b, rcond}, {});
}

Tensor pinv(const Tensor& a, const Tensor& rcond) {
    return make_checked(pinv_operation(), {a, rcond}, {})[0];
}

void register_least_squares() {
    lstsq_operation();
    pinv_operation();
}

}  // namespace composit::ops
