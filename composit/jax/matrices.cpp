// Factors of matrices, in float64 and complex128 as composit's are; results have the operand's
// dtype.
#include "composit/ops/matrices.h"

#include "composit/aten/linalg.h"
#include "composit/base/error.h"
#include "composit/functional/scan.h"
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

// Rows first: of diagonals (…, n) as (n, …, 1), of right sides (…, n, k) as (n, …, k).
Tensor rows_first(const Tensor& x, bool is_diagonal) {
    Shape shape = x.shape();
    if (is_diagonal) shape.push_back(1);
    const auto along = static_cast<int64_t>(shape.size()) - 2;
    Axes order{along};
    for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
        if (d != along) order.push_back(d);
    return ops::transpose(ops::reshape(x, shape), order);
}

Tensor some_rows(const Tensor& x, int64_t start, int64_t count) {
    Axes starts(x.shape().size(), 0), lengths = x.shape();
    starts[0] = start;
    lengths[0] = count;
    return ops::slice(x, starts, lengths, Axes(lengths.size(), 1));
}

Tensor one_row(const Tensor& x, int64_t place) {
    const Tensor row = some_rows(x, place, 1);
    return ops::reshape(row, Shape(row.shape().begin() + 1, row.shape().end()));
}

// x - factor * y
Tensor reduced_by(const Tensor& x, const Tensor& factor, const Tensor& y) {
    return ops::map("subtract", {x, ops::map("multiply", {factor, y})});
}

// Gaussian elimination of three diagonals. Of the row so far and the next one, the one with the
// greater first element stays; it has three elements then.
Tensor tridiagonal_solution(const Application& a) {
    user_check<NotSupported>(!a.flag("perturb_singular"),
                             "trace_jax: tridiagonal_solve that perturbs singular matrices. One "
                             "that does not is required.");
    const Tensor lower = rows_first(wide_matrix(a.x[0]), true);
    const Tensor middle = rows_first(wide_matrix(a.x[1]), true);
    const Tensor upper = rows_first(wide_matrix(a.x[2]), true);
    const Tensor right = rows_first(wide_matrix(a.x[3]), false);
    const int64_t count = middle.shape()[0];
    if (count == 0) return a.x[3];
    const Tensor none = number(middle.dtype(), 0);
    const auto below = [&](const Tensor& x) { return some_rows(x, 1, count - 1); };
    const auto [last, kept] = scan(
        [&](const Tensors& row, const Tensors& next) {
            const Tensor swaps = ops::map(
                "greater", {ops::map("absolute", {next[0]}), ops::map("absolute", {row[0]})});
            const auto either = [&](const Tensor& if_swapped, const Tensor& otherwise) {
                return ops::map("where", {swaps, if_swapped, otherwise});
            };
            const Tensors pivot{either(next[0], row[0]), either(next[1], row[1]),
                                either(next[2], none), either(next[3], row[2])};
            const Tensor factor = ops::map("divide", {either(row[0], next[0]), pivot[0]});
            return Scanned{{reduced_by(either(row[1], next[1]), factor, pivot[1]),
                            reduced_by(either(none, next[2]), factor, pivot[2]),
                            reduced_by(either(row[2], next[3]), factor, pivot[3])},
                           pivot};
        },
        {one_row(middle, 0), one_row(upper, 0), one_row(right, 0)},
        {below(lower), below(middle), below(upper), below(right)});
    const Tensor end = ops::map("divide", {last[2], last[0]});
    const Tensor behind = ops::map("multiply", {end, none});
    const auto solved = scan(
        [](const Tensors& found, const Tensors& row) {
            const Tensor rest = reduced_by(reduced_by(row[3], row[1], found[0]), row[2], found[1]);
            const Tensor x = ops::map("divide", {rest, row[0]});
            return Scanned{{x, found[0]}, {x}};
        },
        {end, behind}, kept, {}, true);
    Shape one = end.shape();
    one.insert(one.begin(), 1);
    const Tensor all = ops::concatenate({solved.ys[0], ops::reshape(end, one)}, 0);
    // Back to (…, n, k).
    Axes order;
    for (int64_t d = 1; d + 1 < all.rank(); ++d) order.push_back(d);
    order.insert(order.end(), {0, all.rank() - 1});
    return ops::astype(ops::transpose(all, order), a.x[3].dtype());
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
    rules["tridiagonal_solve"] = [](const Application& a) {
        return Tensors{tridiagonal_solution(a)};
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
