// numpy.linalg's solutions: factors, determinants, inverses, least squares.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linalg_operands.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/decompositions.h"

#include <algorithm>
#include <numeric>

namespace composit::numpy::linalg {

Tensor cholesky(const Tensor& a, bool upper) {
    check_square("cholesky", a);
    const DType type = common_type("cholesky", {a});
    return ops::astype(ops::cholesky(in_double(a, type), upper), type);
}

Tensor det(const Tensor& a) {
    check_square("det", a);
    static const ir::Interned name = ir::intern("det");
    const ir::ReportingScope reporting(name);
    const DType type = common_type("det", {a});
    return ops::astype(ops::slogdet(in_double(a, type))[2], type);
}

SlogdetResult slogdet(const Tensor& a) {
    check_square("slogdet", a);
    static const ir::Interned name = ir::intern("slogdet");
    const ir::ReportingScope reporting(name);
    const DType type = common_type("slogdet", {a});
    const auto parts = ops::slogdet(in_double(a, type));
    return {ops::astype(parts[0], type), ops::astype(parts[1], ir::real_part_of(type))};
}

Tensor inv(const Tensor& a) {
    check_square("inv", a);
    const DType type = common_type("inv", {a});
    return ops::astype(ops::inv(in_double(a, type)), type);
}

Tensor solve(const Tensor& a, const Tensor& b) {
    check_square("solve", a);
    const DType type = common_type("solve", {a, b});
    user_check(b.rank() > 0, "solve: b has no dimensions. One or more are required.");
    const bool is_vector = b.rank() == 1;
    const Tensor right = is_vector ? reshape(b, {-1, 1}) : Tensor(b);
    user_check(rows(right) == rows(a), "solve: a has shape ", a.shape(), ", b has shape ",
               b.shape(), ". As many rows of b as of a are required.");
    const Shape batch = ops::broadcast_shapes("solve", {batch_of(a), batch_of(right)});
    const Tensor x =
        ops::solve(spread(in_double(a, type), batch), spread(in_double(right, type), batch));
    return ops::astype(is_vector ? squeeze(x, -1) : x, type);
}

Tensor matrix_power(const Tensor& a, int64_t n) {
    check_square("matrix_power", a);
    if (n == 0) return spread(eye(rows(a), {}, 0, a.dtype()), batch_of(a));
    const Tensor base = n < 0 ? errors_as("matrix_power", [&] { return inv(a); }) : strong(a);
    uint64_t left = n < 0 ? -static_cast<uint64_t>(n) : static_cast<uint64_t>(n);
    if (left == 3) return matmul(matmul(base, base), base);
    Tensor square = base, result;
    for (; left > 0; left /= 2) {
        if (left % 2 == 1) result = result ? matmul(result, square) : square;
        if (left > 1) square = matmul(square, square);
    }
    return result;
}

Tensor tensorsolve(const Tensor& a, const Tensor& b,
                   const std::optional<std::vector<int64_t>>& axes) {
    return errors_as("tensorsolve", [&] {
        std::vector<int64_t> order(static_cast<size_t>(a.rank()));
        std::iota(order.begin(), order.end(), int64_t{0});
        for (int64_t axis : axes.value_or(std::vector<int64_t>())) {
            const auto found = std::find(order.begin(), order.end(), axis);
            user_check(found != order.end(), "tensorsolve: axis ", axis, " is not in a, which has ",
                       a.rank(), " dimensions. Non-negative axes are required.");
            order.erase(found);
            order.push_back(axis);
        }
        const Tensor moved = axes ? transpose(a, order) : strong(a);
        // The axes behind those of b; NumPy's slice where b has more axes than a.
        const std::ptrdiff_t rank = a.rank(), more = rank - b.rank();
        const std::ptrdiff_t first = more > 0 ? rank - more : std::min(-more, rank);
        const Shape shape(moved.shape().begin() + first, moved.shape().end());
        const int64_t side = ir::element_count(shape);
        user_check<LinAlgError>(a.size() == side * side, "tensorsolve: a has shape ", a.shape(),
                                ", b has shape ", b.shape(),
                                ". prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim]) is required.");
        return reshape(solve(reshape(moved, {side, side}), ravel(b)), shape);
    });
}

Tensor tensorinv(const Tensor& a, int64_t ind) {
    user_check(ind > 0, "tensorinv: Invalid ind argument: ", ind, ". A positive one is required.");
    return errors_as("tensorinv", [&] {
        const auto split =
            a.shape().begin() + std::min<std::ptrdiff_t>(ind, static_cast<int64_t>(a.rank()));
        Shape shape(split, a.shape().end());
        const int64_t side = ir::element_count(shape);
        shape.insert(shape.end(), a.shape().begin(), split);
        return reshape(inv(reshape(a, {side, -1})), shape);
    });
}

Tensor pinv(const Tensor& a, const Operand& rcond, bool hermitian) {
    check_matrices("pinv", a);
    if (rows(a) * columns(a) == 0) {
        Shape shape = batch_of(a);
        shape.insert(shape.end(), {columns(a), rows(a)});
        return zeros(shape, a.dtype());
    }
    if (hermitian) check_square("pinv", a);
    const DType type = common_type("pinv", {a});
    return errors_as("pinv", [&] {
        const Tensor limit = ops::astype(rcond.tensor(), DType::float64);
        const Shape batch = ops::broadcast_shapes("pinv", {batch_of(a), limit.shape()});
        const Tensor x = spread(in_double(hermitian ? hermitian_of(a) : Tensor(a), type), batch);
        const Tensor limits = limit.shape() == batch ? limit : ops::broadcast_to(limit, batch);
        return ops::astype(ops::pinv(x, limits), type);
    });
}

double relative_precision(const Tensor& a) {
    check_matrices("pinv", a);
    return static_cast<double>(std::max(rows(a), columns(a))) * precision_of(a.dtype());
}

LstsqResult lstsq(const Tensor& a, const Tensor& b, std::optional<double> rcond) {
    const bool is_vector = b.rank() == 1;
    const Tensor right = is_vector ? reshape(b, {-1, 1}) : Tensor(b);
    check_one_matrix("lstsq", a);
    check_one_matrix("lstsq", right);
    user_check<LinAlgError>(rows(a) == rows(right), "lstsq: Incompatible dimensions: a has shape ",
                            a.shape(), ", b has shape ", b.shape(), ".");
    const DType type = common_type("lstsq", {a, b}), real = ir::real_part_of(type);
    const auto longer = static_cast<double>(std::max(rows(a), columns(a)));
    const double limit = rcond.value_or(precision_of(DType::float64) * longer);
    const auto parts =
        ops::lstsq(in_double(a, type), in_double(right, type), scalar(DType::float64, limit));
    bool has_residuals = rows(a) > columns(a);
    if (has_residuals && !depends_on_placeholder(parts[2]))
        has_residuals = *concrete("lstsq", "a", parts[2]).data_as<int32_t>() == columns(a);
    return {ops::astype(is_vector ? squeeze(parts[0], -1) : parts[0], type),
            has_residuals ? ops::astype(parts[1], real) : zeros({0}, real), parts[2],
            ops::astype(parts[3], real)};
}

}  // namespace composit::numpy::linalg
