// Factors and solutions out of composit::numpy's.
#include "composit/aten/linalg.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/rank.h"
#include "composit/aten/rows.h"
#include "composit/base/error.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <tuple>

namespace composit::aten {
namespace {

using numpy::Ellipsis;
using numpy::NewAxis;
using numpy::Slice;
namespace la = numpy::linalg;

int64_t height_of(const Tensor& a) {
    check_rank("linalg", a, 2);
    return a.shape().end()[-2];
}
int64_t width_of(const Tensor& a) {
    check_rank("linalg", a, 1);
    return a.shape().back();
}

Tensor turned(const Tensor& a) { return numpy::swapaxes(a, -1, -2); }

Tensor adjoint_of(const Tensor& a) {
    return ir::is_complex(a.dtype()) ? numpy::apply("conjugate", {turned(a)}) : turned(a);
}

Tensor column_of(const Tensor& a, int64_t k) { return numpy::get_item(a, {Ellipsis{}, k}); }
Tensor as_column(const Tensor& x) { return numpy::get_item(x, {Ellipsis{}, NewAxis{}}); }

// The numbers of rows with k's and another one, of each matrix, exchanged.
Tensor exchanged(const Tensor& numbers, int64_t k, const Tensor& best) {
    return rows::where(rows::equal(numbers, k), best,
                       rows::where(rows::equal(numbers, best), k, numbers));
}

// The larger of `atol` and `rtol` times the largest singular value.
Tensor bound_of(const Tensor& values, const Operand& atol, const Operand& rtol) {
    return rows::maximum(numpy::max(values, -1, true) * rtol.tensor(), atol);
}

double precision_of(const Tensor& a) {
    user_check(ir::is_inexact(a.dtype()), "the matrix is of ", a.dtype(),
               ". A floating dtype is required.");
    return static_cast<double>(std::max(height_of(a), width_of(a))) * epsilon_of(a.dtype());
}

// By which LAPACK chooses a pivot: of complex numbers the sum of both parts' magnitudes.
Tensor size_of_pivot(const Tensor& x) {
    if (!ir::is_complex(x.dtype())) return rows::abs(x);
    return rows::abs(numpy::real(x)) + rows::abs(numpy::imag(x));
}

}  // namespace

LuResult lu_factor(const Tensor& given) {
    Tensor a = given;
    const int64_t height = height_of(a), width = width_of(a);
    const Tensor numbers = numpy::arange(height), columns = numpy::arange(width);
    const Tensor zero = rows::zero_of(a);
    Tensor order = numpy::broadcast_to(numbers, ir::Shape(a.shape().begin(), a.shape().end() - 1));
    std::vector<Tensor> pivots;
    for (int64_t k = 0; k < std::min(height, width); ++k) {
        const Tensor candidates = rows::where(numbers >= k, size_of_pivot(column_of(a, k)), -1);
        const Tensor best = as_column(numpy::argmax(candidates, -1));
        pivots.push_back(best + 1);
        const Tensor swapped = exchanged(numbers, k, best);
        a = numpy::take_along_axis(a, as_column(swapped), -2);
        order = numpy::take_along_axis(order, swapped, -1);
        const Tensor column = column_of(a, k), row = numpy::get_item(a, {Ellipsis{}, k, Slice{}});
        const Tensor pivot = as_column(numpy::get_item(a, {Ellipsis{}, k, k}));
        const Tensor divided = column / rows::where(rows::equal(pivot, 0), rows::one_of(a), pivot);
        const Tensor factor = rows::where(numbers > k, divided, zero);
        const Tensor behind = rows::where(columns > k, row, zero);
        a = a - as_column(factor) * numpy::expand_dims(behind, -2);
        const Tensor kept = rows::where(numbers > k, factor, column_of(a, k));
        a = rows::where(rows::equal(columns, k), as_column(kept), a);
    }
    const Tensor found = pivots.empty() ? numpy::get_item(order, {Ellipsis{}, Slice{{}, 0}})
                                        : numpy::concatenate(pivots, -1);
    return {a, ops::astype(found, DType::int32), order};
}

std::pair<Tensor, Tensor> split_lu(const Tensor& lu) {
    check_rank("lu_unpack", lu, 2);
    const int64_t height = height_of(lu), least = std::min(height, width_of(lu));
    const Tensor lower = numpy::get_item(lu, {Ellipsis{}, Slice{{}, least}});
    const Tensor upper = numpy::get_item(lu, {Ellipsis{}, Slice{{}, least}, Slice{}});
    return {numpy::tril(lower, -1) + numpy::eye(height, least, 0, lu.dtype()), numpy::triu(upper)};
}

Tensor order_of(const Tensor& pivots, int64_t rows) {
    check_rank("the pivots of an LU factorisation", pivots, 1);
    user_check<RuntimeError>(width_of(pivots) <= rows,
                             "the pivots of an LU factorisation have shape ", pivots.shape(),
                             ". At most ", rows, " are required.");
    const Tensor numbers = numpy::arange(rows);
    ir::Shape shape = pivots.shape();
    shape.back() = rows;
    Tensor order = numpy::broadcast_to(numbers, shape);
    for (int64_t k = 0; k < width_of(pivots); ++k) {
        const Tensor best = as_column(ops::astype(column_of(pivots, k), DType::int64)) - 1;
        order = numpy::take_along_axis(order, exchanged(numbers, k, best), -1);
    }
    return order;
}

Tensor permutation_of(const Tensor& order, DType dtype) {
    const Tensor numbers = as_column(numpy::arange(width_of(order)));
    return ops::astype(rows::equal(numbers, numpy::expand_dims(order, -2)), dtype);
}

Tensor lu_solve(const Tensor& lu, const Tensor& pivots, const Tensor& b, bool left, bool adjoint) {
    check_rank("lu_solve", b, 2);
    const auto [lower, upper] = split_lu(lu);
    const Tensor inverse = numpy::argsort(order_of(pivots, height_of(lu)), -1);
    const Tensor whole =
        numpy::take_along_axis(numpy::matmul(lower, upper), as_column(inverse), -2);
    const Tensor a = adjoint ? numpy::apply("conjugate", {turned(whole)}) : whole;
    return left ? la::solve(a, b) : turned(la::solve(turned(a), turned(b)));
}

Tensor householder_product(const Tensor& vectors, const Tensor& tau) {
    const int64_t height = height_of(vectors);
    const DType dtype = vectors.dtype();
    const Tensor numbers = numpy::arange(height);
    ir::Shape shape = vectors.shape();
    shape.back() = height;
    Tensor product = numpy::broadcast_to(numpy::eye(height, {}, 0, dtype), shape);
    for (int64_t k = 0; k < width_of(tau); ++k) {
        const Tensor tail =
            rows::where(numbers > k, column_of(vectors, k), rows::equal(numbers, k));
        const Tensor vector = as_column(ops::astype(tail, dtype));
        const Tensor scaled =
            as_column(as_column(column_of(tau, k))) * numpy::matmul(product, vector);
        product = product - numpy::matmul(scaled, adjoint_of(vector));
    }
    return product;
}

Tensor solve(const Tensor& a, const Tensor& b, bool left) {
    const bool is_batch =
        a.rank() - 1 == b.rank() &&
        std::ranges::equal(b.shape(), ir::Shape(a.shape().begin(), a.shape().end() - 1));
    if (b.rank() == 1 || is_batch) return column_of(la::solve(a, as_column(b)), 0);
    return left ? la::solve(a, b) : turned(la::solve(turned(a), turned(b)));
}

Tensor solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool left,
                        bool unitriangular) {
    Tensor x = upper ? numpy::triu(a) : numpy::tril(a);
    if (unitriangular) {
        const Tensor is_diagonal = numpy::eye(width_of(a), {}, 0, DType::boolean);
        x = rows::where(is_diagonal, rows::one_of(a), x);
    }
    return left ? la::solve(x, b) : turned(la::solve(turned(x), turned(b)));
}

std::pair<Tensor, Tensor> lstsq(const Tensor& a, const Tensor& b) {
    const bool is_tall = height_of(a) >= width_of(a);
    const la::QRResult factors = la::qr(is_tall ? a : adjoint_of(a));
    const Tensor found = is_tall ? la::solve(factors.R, numpy::matmul(adjoint_of(factors.Q), b))
                                 : numpy::matmul(factors.Q, la::solve(adjoint_of(factors.R), b));
    if (height_of(a) <= width_of(a)) return {found, numpy::zeros({0}, a.dtype())};
    return {found, numpy::sum(rows::power(rows::abs(numpy::matmul(a, found) - b), 2), -2)};
}

Tensor pinv(const Tensor& a, const Operand& atol, const Operand& rtol) {
    if (a.size() == 0) return numpy::zeros(numpy::matrix_transpose(a).shape(), a.dtype());
    const la::SVDResult found = la::svd(a, false);
    const Tensor& s = found.S;
    const Tensor is_kept = s > bound_of(s, atol, rtol ? rtol : precision_of(a));
    const Tensor safe = rows::where(is_kept, s, rows::one_of(s));
    const Tensor inverse = rows::where(is_kept, 1 / safe, rows::zero_of(s));
    return numpy::matmul(adjoint_of(found.Vh) * numpy::expand_dims(inverse, -2),
                         adjoint_of(found.U));
}

Tensor matrix_rank(const Tensor& a, const Operand& tol, const Operand& atol, const Operand& rtol) {
    if (a.size() == 0) {
        const ir::Shape batch(a.shape().begin(), a.shape().end() - 2);
        return numpy::zeros(batch, DType::int64);
    }
    const Tensor values = la::svdvals(a);
    const double usual = atol ? 0.0 : precision_of(a);
    const Tensor bound =
        tol ? tol.tensor()
            : bound_of(values, atol ? atol : Operand(0.0), rtol ? rtol : Operand(usual));
    return numpy::sum(ops::astype(values > bound, DType::int64), -1);
}

LowRank svd_lowrank(const Tensor& given, const Tensor& drawn, int64_t iterations) {
    user_check(given.rank() >= 2, "svd_lowrank: a has shape ", given.shape(),
               ". A matrix is required.");
    const bool is_wide = height_of(given) < width_of(given);
    const Tensor a = is_wide ? adjoint_of(given) : given, adjoint = adjoint_of(a);
    const auto basis_of = [](const Tensor& x) { return la::qr(x).Q; };
    Tensor basis = basis_of(numpy::matmul(a, drawn));
    for (int64_t i = 0; i < iterations; ++i) {
        basis = basis_of(numpy::matmul(adjoint, basis));
        basis = basis_of(numpy::matmul(a, basis));
    }
    const la::SVDResult found = la::svd(numpy::matmul(adjoint_of(basis), a), false);
    const Tensor u = numpy::matmul(basis, found.U), v = adjoint_of(found.Vh);
    return is_wide ? LowRank{v, found.S, u} : LowRank{u, found.S, v};
}

Tensor matrix_exp(const Tensor& a) {
    // A polynomial of this degree is exact to float64 for matrices whose norm is at most 1/2.
    constexpr int64_t degree = 18, halvings_at_most = 16;
    const Tensor sums = numpy::sum(rows::abs(nn::stop_gradient(a)), -2);
    const Tensor size = as_column(as_column(numpy::max(sums, -1)));
    const Tensor halvings =
        numpy::apply("ceil", {numpy::apply("log2", {rows::maximum(2 * size, 1)})});
    const Tensor x = a * ops::astype(numpy::apply("exp2", {-halvings}), a.dtype());
    const Tensor unit = numpy::broadcast_to(numpy::eye(width_of(a), {}, 0, a.dtype()), a.shape());
    Tensor total = unit;
    for (int64_t n = degree; n > 0; --n) total = unit + numpy::matmul(x, total) / n;
    for (int64_t k = 0; k < halvings_at_most; ++k)
        total = rows::where(halvings > k, numpy::matmul(total, total), total);
    return total;
}

Tensor vander(const Tensor& given, std::optional<int64_t> columns) {
    const Tensor x = given.rank() == 0 ? numpy::reshape(given, {1}) : given;
    const int64_t length = columns.value_or(width_of(x));
    ir::Shape shape = x.shape();
    shape.push_back(1);
    const Tensor ones = numpy::ones(shape, x.dtype());
    if (length <= 1) return numpy::get_item(ones, {Ellipsis{}, Slice{{}, length}});
    shape.back() = length - 1;
    const Tensor repeated = numpy::broadcast_to(as_column(x), shape);
    return numpy::concatenate({ones, numpy::cumprod(repeated, -1)}, -1);
}

UnpackedLu unpack_lu(const Tensor& lu, const Tensor& pivots, bool unpacks_data,
                     bool unpacks_pivots) {
    const Tensor none = numpy::zeros({0}, lu.dtype());
    UnpackedLu made{none, none, none};
    if (unpacks_data) std::tie(made.lower, made.upper) = split_lu(lu);
    if (unpacks_pivots) {
        user_check(lu.rank() >= 2, "lu_unpack: LU_data has shape ", lu.shape(),
                   ". A matrix, or a batch of them, is required.");
        made.permutation =
            permutation_of(order_of(pivots, lu.shape()[lu.shape().size() - 2]), lu.dtype());
    }
    return made;
}

}  // namespace composit::aten
