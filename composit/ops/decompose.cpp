// qr, svd, eigh and eig.
//
// Derivatives: of eigh and svd M. B. Giles, "Collected matrix derivative results for forward and
// reverse mode algorithmic differentiation" (2008), and J. Townsend, "Differentiating the singular
// value decomposition" (2016); of qr D. Roberts and L. Roberts, "QR and LQ decomposition matrix
// backpropagation algorithms for square, wide, and deep matrices" (2020).
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/checks.h"
#include "composit/ops/components.h"
#include "composit/ops/decompositions.h"
#include "composit/ops/foreign.h"
#include "composit/ops/lift.h"
#include "composit/ops/matrices.h"
#include "composit/ops/rules.h"

#include <algorithm>

namespace composit::ops {
namespace {

int64_t least(const Tensor& x) { return std::min(rows(x), columns(x)); }

TensorType type(const Tensor& x, std::initializer_list<int64_t> last, DType dtype) {
    Shape shape = batch_of(x);
    shape.insert(shape.end(), last);
    return {shape, dtype};
}
TensorType type(const Tensor& x, std::initializer_list<int64_t> last) {
    return type(x, last, x.dtype());
}

Tensor output(const Node& node, int i) { return {Ref<Node>(&node), i}; }

int64_t checked_kind(std::string_view operation, const Attributes& attributes,
                     std::string_view name, int64_t last) {
    const auto kind = ir::checked_attribute<int64_t>(operation, attributes, name);
    user_check(kind >= 0 && kind <= last, operation, ": ", name, " ", kind,
               " does not exist. One from 0 to ", last, " is required.");
    return kind;
}

// ----- qr

QrMode mode_of(const Attributes& attributes) {
    return static_cast<QrMode>(attributes.get<int64_t>("mode"));
}

std::vector<TensorType> infer_qr(const Tensors& x, const Attributes& attributes) {
    const int64_t m = rows(x[0]), n = columns(x[0]), k = least(x[0]);
    switch (mode_of(attributes)) {
        case QrMode::reduced: return {type(x[0], {m, k}), type(x[0], {k, n})};
        case QrMode::complete: return {type(x[0], {m, m}), type(x[0], {m, n})};
        case QrMode::r: return {type(x[0], {k, n})};
        case QrMode::raw: return {type(x[0], {m, n}), type(x[0], {k})};
    }
    return {};
}

// With M = R gRᴴ - gQᴴ Q, of at least as many rows as columns: (gQ + Q H) R⁻ᴴ, where H is Hermitian
// and has M's lower triangle.
Tensor tall_gradient(const Tensor& q, const Tensor& r, const Tensor& of_q, const Tensor& of_r) {
    Tensor m;
    if (of_r) m = product(r, adjoint(of_r));
    if (of_q) {
        const Tensor back = product(adjoint(of_q), q);
        m = m ? minus(m, back) : map("negative", {back});
    }
    const Tensor half = half_lower_triangle(m);
    const Tensor inner = add_gradients(of_q, product(q, plus(half, adjoint(half))));
    return adjoint(solve(r, adjoint(inner)));
}

Tensors vjp_qr(const Node& node, const Tensors& gradients, const Wanted&) {
    const QrMode mode = mode_of(node.attributes());
    const int64_t m = rows(node.operand(0)), n = columns(node.operand(0));
    const bool is_raw = mode == QrMode::raw, is_loose = mode == QrMode::complete && m > n;
    user_check<TypeError>(!is_raw && !is_loose,
                          "vjp: operation 'qr' has no derivative in this mode (mode 'raw', or "
                          "'complete' of more rows than columns). Mode 'reduced' is required.");
    const bool is_r = mode == QrMode::r;
    const Tensors parts =
        is_r ? qr(node.operand(0), QrMode::reduced) : Tensors{output(node, 0), output(node, 1)};
    const Tensor q = parts[0], r = parts[1];
    Tensor of_q = is_r ? Tensor() : gradients[0], of_r = is_r ? gradients[0] : gradients[1];
    if (m >= n) return {tall_gradient(q, r, of_q, of_r)};
    // a = [x y], x = q u, y = q v: what moves y moves v and turns q.
    const Tensor u = columns_of(r, 0, m), y = columns_of(node.operand(0), m, n - m);
    Tensor of_u, of_y;
    if (of_r) {
        of_u = columns_of(of_r, 0, m);
        const Tensor of_v = columns_of(of_r, m, n - m);
        of_y = product(q, of_v);
        of_q = add_gradients(of_q, product(y, adjoint(of_v)));
    } else {
        of_y = zeros_like(y);
    }
    return {concatenate({tall_gradient(q, u, of_q, of_u), of_y}, q.rank() - 1)};
}

const ir::Operation& qr_operation() {
    static const ir::Operation& operation = register_foreign(
        {
            .name = "qr",
            .doc = "Orthonormal columns and a triangle, by Householder's reflections; foreign.",
            .infer = infer_qr,
            .vjp = vjp_qr,
            .check =
                [](const Tensors& x, const Attributes& attributes) {
                    check_matrices("qr", x, {});
                    checked_kind("qr", attributes, "mode", 3);
                },
        },
        [](const Attributes& attributes) -> ForeignCallee {
            const QrMode mode = mode_of(attributes);
            return {"lapack.qr", {mode == QrMode::raw ? 2 : mode == QrMode::r ? 1 : 0}};
        });
    return operation;
}

// ----- svd

SvdVectors vectors_of(const Attributes& attributes) {
    return static_cast<SvdVectors>(attributes.get<int64_t>("vectors"));
}

std::vector<TensorType> infer_svd(const Tensors& x, const Attributes& attributes) {
    const int64_t m = rows(x[0]), n = columns(x[0]), k = least(x[0]);
    const TensorType values = type(x[0], {k}, DType::float64);
    switch (vectors_of(attributes)) {
        case SvdVectors::none: return {values};
        case SvdVectors::few: return {type(x[0], {m, k}), values, type(x[0], {k, n})};
        case SvdVectors::all: return {type(x[0], {m, m}), values, type(x[0], {n, n})};
    }
    return {};
}

// (xᴴ g - gᴴ x) / (s_j² - s_i²), 0 on the diagonal: how turning vectors moves the matrix between
// them.
Tensor turning(const Tensor& x, const Tensor& g, const Tensor& s) {
    const Tensor inner = product(adjoint(x), g), skew = minus(inner, adjoint(inner));
    const Tensor squares = map("square", {s}), row = as_row(squares), column = as_column(squares);
    const Tensor gaps = plus(minus(row, column), identity_like(minus(row, column)));
    return off_diagonal(map("divide", {skew, gaps}));
}

// What is left of g, the gradient of orthonormal columns x, when the part along them is taken away;
// over the values.
Tensor outside(const Tensor& x, const Tensor& g, const Tensor& s) {
    const Tensor rest = minus(g, product(x, product(adjoint(x), g)));
    return map("divide", {rest, as_row(s)});
}

Tensors vjp_svd(const Node& node, const Tensors& gradients, const Wanted&) {
    const Tensor& a = node.operand(0);
    const SvdVectors vectors = vectors_of(node.attributes());
    if (vectors == SvdVectors::none) {
        const Tensors parts = svd(a, SvdVectors::few);
        return {product(times(parts[0], as_row(gradients[0])), parts[2])};
    }
    // Vectors beyond the values are not differentiated: they are any basis of what is left.
    const int64_t k = least(a);
    const auto first_columns = [&](const Tensor& x) { return x ? columns_of(x, 0, k) : x; };
    const Tensor u = first_columns(output(node, 0)), s = output(node, 1);
    const Tensor vh = rows_of(output(node, 2), 0, k), v = adjoint(vh);
    const Tensor of_u = first_columns(gradients[0]);
    const Tensor of_v = gradients[2] ? adjoint(rows_of(gradients[2], 0, k)) : Tensor();
    Tensor inner, result;
    if (gradients[1]) inner = astype(diagonal_matrix(gradients[1]), a.dtype());
    if (of_u) inner = add_gradients(inner, times(turning(u, of_u, s), as_row(s)));
    if (of_v) inner = add_gradients(inner, times(as_column(s), turning(v, of_v, s)));
    if (of_u && ir::is_complex(a.dtype())) {  // u and v turn together, by a phase for each value
        const Tensor phases = product(adjoint(u), of_u);
        const Tensor twice = minus(phases, adjoint(phases));
        const Tensor diagonal = times(twice, identity_like(twice));
        inner = add_gradients(inner, halved(map("divide", {diagonal, as_row(s)})));
    }
    result = product(product(u, inner), vh);
    if (of_u && rows(a) > k) result = plus(result, product(outside(u, of_u, s), vh));
    if (of_v && columns(a) > k) result = plus(result, product(u, adjoint(outside(v, of_v, s))));
    return {result};
}

const ir::Operation& svd_operation() {
    static const ir::Operation& operation = register_foreign(
        {
            .name = "svd",
            .doc = "Singular values and vectors, by divide and conquer; foreign.",
            .infer = infer_svd,
            .vjp = vjp_svd,
            .check =
                [](const Tensors& x, const Attributes& attributes) {
                    check_matrices("svd", x, {});
                    checked_kind("svd", attributes, "vectors", 2);
                },
        },
        [](const Attributes& attributes) -> ForeignCallee {
            return {"lapack.svd", {attributes.get<int64_t>("vectors")}};
        });
    return operation;
}

// ----- eigh

std::vector<TensorType> infer_eigh(const Tensors& x, const Attributes& attributes) {
    const int64_t n = columns(x[0]);
    const TensorType values = type(x[0], {n}, DType::float64);
    if (!attributes.get<bool>("computes_vectors")) return {values};
    return {values, {x[0].shape(), x[0].dtype()}};
}

// V (diag(gw) + (Vᴴ gV) / (w_j - w_i)) Vᴴ
Tensors vjp_eigh(const Node& node, const Tensors& gradients, const Wanted&) {
    const Tensor& a = node.operand(0);
    if (!node.attributes().get<bool>("computes_vectors")) {
        const Tensor v = eigh(a, true, node.attributes().get<bool>("reads_upper"))[1];
        return {product(times(v, as_row(gradients[0])), adjoint(v))};
    }
    const Tensor w = output(node, 0), v = output(node, 1);
    Tensor inner;
    if (gradients[0]) inner = astype(diagonal_matrix(gradients[0]), a.dtype());
    if (gradients[1]) {
        const Tensor gap = minus(as_row(w), as_column(w));
        const Tensor gaps = plus(gap, identity_like(gap));
        const Tensor turned = product(adjoint(v), gradients[1]);
        inner = add_gradients(inner, off_diagonal(map("divide", {turned, gaps})));
    }
    return {product(product(v, inner), adjoint(v))};
}

const ir::Operation& eigh_operation() {
    static const ir::Operation& operation = register_foreign(
        {
            .name = "eigh",
            .doc = "Eigenvalues and vectors of Hermitian matrices, by divide and conquer; foreign.",
            .infer = infer_eigh,
            .vjp = vjp_eigh,
            .check =
                [](const Tensors& x, const Attributes& attributes) {
                    check_matrices("eigh", x, {.is_square = true});
                    ir::checked_attribute<bool>("eigh", attributes, "computes_vectors");
                    ir::checked_attribute<bool>("eigh", attributes, "reads_upper");
                },
        },
        [](const Attributes& attributes) -> ForeignCallee {
            return {
                "lapack.eigh",
                {attributes.get<bool>("computes_vectors"), attributes.get<bool>("reads_upper")}};
        });
    return operation;
}

// ----- eig

// V⁻ᴴ (diag(gw) + (Vᴴ gV - Vᴴ V diag(Re(Vᴴ gV))) / conj(w_j - w_i)) Vᴴ, as vectors have length 1
// (C. Boeddeker and others, "On the computation of complex-valued gradients with application to
// statistically optimum beamforming", 2017; PyTorch). Of a real matrix the real part.
Tensors vjp_eig(const Node& node, const Tensors& gradients, const Wanted&) {
    const Tensor& a = node.operand(0);
    const bool gives_real = node.attributes().get<bool>("gives_real");
    const bool has_vectors = node.attributes().get<bool>("computes_vectors");
    Tensor w, v;
    if (has_vectors) {
        w = output(node, 0), v = output(node, 1);
    } else {
        const Tensors parts = eig(a, true, gives_real);
        w = parts[0], v = parts[1];
    }
    Tensor inner;
    if (gradients[0]) inner = diagonal_matrix(gradients[0]);
    if (has_vectors && gradients[1]) {
        const Tensor turned = product(adjoint(v), gradients[1]);
        const Tensor diagonal = times(turned, identity_like(turned));
        const Tensor lengths = reduce(Combiner::sum, diagonal, {diagonal.rank() - 2});
        const Tensor real = ir::is_complex(lengths.dtype()) ? map("real", {lengths}) : lengths;
        const Tensor rest = minus(turned, product(adjoint(v), times(v, as_row(real))));
        const Tensor gap = conjugated(minus(as_row(w), as_column(w)));
        const Tensor gaps = plus(gap, identity_like(gap));
        inner = add_gradients(inner, off_diagonal(map("divide", {rest, gaps})));
    }
    const Tensor result = solve(adjoint(v), product(inner, adjoint(v)));
    const bool is_real = !ir::is_complex(a.dtype()) && ir::is_complex(result.dtype());
    return {is_real ? map("real", {result}) : result};
}

const ir::Operation& eig_operation() {
    static const ir::Operation& operation = register_foreign(
        {
            .name = "eig",
            .doc = "Eigenvalues and right eigenvectors of matrices, complex; foreign.",
            .infer = [](const Tensors& x, const Attributes& attributes) -> std::vector<TensorType> {
                const DType dtype =
                    attributes.get<bool>("gives_real") ? DType::float64 : DType::complex128;
                const TensorType values = type(x[0], {columns(x[0])}, dtype);
                const TensorType is_real = type(x[0], {}, DType::boolean);
                if (!attributes.get<bool>("computes_vectors")) return {values, is_real};
                return {values, {x[0].shape(), dtype}, is_real};
            },
            .vjp = vjp_eig,
            .check =
                [](const Tensors& x, const Attributes& attributes) {
                    check_matrices("eig", x, {.is_square = true});
                    ir::checked_attribute<bool>("eig", attributes, "computes_vectors");
                    const bool is_real =
                        ir::checked_attribute<bool>("eig", attributes, "gives_real");
                    user_check<TypeError>(!is_real || x[0].dtype() == DType::float64,
                                          "eig: gives_real of ", x[0].dtype(),
                                          ". float64 is required.");
                },
        },
        [](const Attributes& attributes) -> ForeignCallee {
            return {"lapack.eig", {attributes.get<bool>("computes_vectors")}};
        });
    return operation;
}

}  // namespace

std::vector<Tensor> qr(const Tensor& a, QrMode mode) {
    return make_checked(qr_operation(), {a}, {{"mode", static_cast<int64_t>(mode)}});
}

std::vector<Tensor> svd(const Tensor& a, SvdVectors vectors) {
    return make_checked(svd_operation(), {a}, {{"vectors", static_cast<int64_t>(vectors)}});
}

std::vector<Tensor> eigh(const Tensor& a, bool computes_vectors, bool reads_upper) {
    return make_checked(eigh_operation(), {a},
                        {{"computes_vectors", computes_vectors}, {"reads_upper", reads_upper}});
}

std::vector<Tensor> eig(const Tensor& a, bool computes_vectors, bool gives_real) {
    return make_checked(eig_operation(), {a},
                        {{"computes_vectors", computes_vectors}, {"gives_real", gives_real}});
}

void register_decompositions() {
    qr_operation();
    svd_operation();
    eigh_operation();
    eig_operation();
}

}  // namespace composit::ops
