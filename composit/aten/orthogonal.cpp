// Orthogonal matrices by exponentials, by Cayley's map, and by reflections.
#include "composit/aten/orthogonal.h"

#include "composit/aten/linalg.h"
#include "composit/aten/rank.h"
#include "composit/aten/rows.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/padding.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/matrices.h"
#include "composit/ops/ops.h"

namespace composit::aten {
namespace {

using numpy::Ellipsis;
using numpy::Slice;
namespace la = numpy::linalg;

// The diagonal as what rows are multiplied with.
Tensor diagonal_row(const Tensor& x) {
    return numpy::expand_dims(numpy::diagonal(x, 0, -2, -1), -2);
}

Tensor by_reflections(const Tensor& x) {
    const Tensor below = numpy::tril(x, -1);
    const Tensor tau = 2.0 / (1.0 + numpy::sum(below * below, -2));
    const Tensor q = householder_product(below, tau);
    const Tensor signs =
        ops::astype(ops::astype(nn::stop_gradient(diagonal_row(x)), ir::DType::int32), x.dtype());
    return numpy::get_item(q, {Ellipsis{}, Slice{{}, x.shape().back()}}) * signs;
}

}  // namespace

Tensor orthogonal(const Tensor& x, std::string_view map) {
    check_rank("orthogonal", x, 2);
    const int64_t n = x.shape().end()[-2], k = x.shape().back();
    user_check<ValueError>(n >= k, "orthogonal: a matrix is ", n, " by ", k,
                           ". At least as many rows as columns are required.");
    user_check<PyTorchValueError>(map == "matrix_exp" || map == "cayley" || map == "householder",
                                  "orthogonal_map has to be one of \"matrix_exp\", \"cayley\", "
                                  "\"householder\". Got: ",
                                  map);
    if (map == "householder") return by_reflections(x);
    std::vector<std::pair<int64_t, int64_t>> widths(x.shape().size(), {0, 0});
    widths.back().second = n - k;
    const Tensor lower = numpy::pad(numpy::tril(x), widths);
    const Tensor skew = lower - ops::adjoint(lower);
    const Tensor half = skew / 2.0, one = numpy::eye(n, {}, 0, x.dtype());
    const Tensor q = map == "cayley" ? la::solve(one - half, one + half) : matrix_exp(skew);
    return numpy::get_item(q, {Ellipsis{}, Slice{{}, k}});
}

Tensor householder_form(const Tensor& q) {
    const std::vector<Tensor> raw = la::qr_raw(q);
    const Tensor factors = numpy::matrix_transpose(raw[0]), tau = raw[1];
    const int64_t n = q.shape().end()[-2], k = q.shape().back();
    // A reflection that LAPACK leaves out keeps the sign of its column.
    const Tensor sign = rows::sign(numpy::diagonal(factors, 0, -2, -1));
    const Tensor kept = rows::where(rows::equal(tau, 0), -sign, sign);
    const Tensor on_diagonal =
        rows::equal(numpy::reshape(numpy::arange(n), {n, 1}), numpy::arange(k));
    return rows::where(on_diagonal, numpy::expand_dims(kept, -2), factors);
}

Tensor nearest_orthogonal(const Tensor& a) {
    const la::QRResult parts = la::qr(a, "reduced");
    const Tensor diagonal = diagonal_row(parts.R);
    const bool is_complex = ir::is_complex(a.dtype());
    return parts.Q *
           ops::astype(rows::sign(is_complex ? numpy::real(diagonal) : diagonal), a.dtype());
}

}  // namespace composit::aten
