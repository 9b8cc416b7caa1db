// numpy.linalg's products: those of numpy/linear.h under the array standard's rules, and multi_dot.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/assembling.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/correlation.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <limits>

namespace composit::numpy::linalg {

Tensor cross(const Tensor& x1, const Tensor& x2, int64_t axis) {
    const auto length = [&](const Tensor& x) {
        return x.shape()[static_cast<size_t>(normalize_axis("cross", axis, x.rank()))];
    };
    user_check(length(x1) == 3 && length(x2) == 3,
               "cross: Both input arrays must be (arrays of) 3-dimensional vectors, but they are ",
               length(x1), " and ", length(x2), " dimensional instead.");
    return numpy::cross(x1, x2, axis, axis, axis);
}

Tensor diagonal(const Tensor& x, int64_t offset) { return numpy::diagonal(x, offset, -2, -1); }
Tensor matmul(const Tensor& x1, const Tensor& x2) { return numpy::matmul(x1, x2); }
Tensor matrix_transpose(const Tensor& x) { return numpy::matrix_transpose(x); }

Tensor outer(const Tensor& x1, const Tensor& x2) {
    user_check(x1.rank() == 1 && x2.rank() == 1,
               "outer: Input arrays must be one-dimensional, but they have shapes ", x1.shape(),
               " and ", x2.shape(), ".");
    return numpy::outer(x1, x2);
}

Tensor tensordot(const Tensor& x1, const Tensor& x2, int64_t axes) {
    return numpy::tensordot(x1, x2, axes);
}

Tensor tensordot(const Tensor& x1, const Tensor& x2, const std::vector<int64_t>& axes1,
                 const std::vector<int64_t>& axes2) {
    return numpy::tensordot(x1, x2, axes1, axes2);
}

Tensor trace(const Tensor& x, int64_t offset, std::optional<DType> dtype) {
    return numpy::trace(dtype ? ops::astype(x, *dtype) : x, offset, -2, -1);
}

Tensor vecdot(const Tensor& x1, const Tensor& x2, int64_t axis) {
    return numpy::vecdot(x1, x2, axis);
}

namespace {

// Where to split the product of matrices i to j, at [i][j], so that the whole takes the fewest
// multiplications; lengths[i] and lengths[i + 1] are the sides of matrix i. Equal costs: the first.
std::vector<std::vector<size_t>> best_splits(const std::vector<double>& lengths) {
    const size_t count = lengths.size() - 1;
    std::vector<std::vector<double>> costs(count, std::vector<double>(count, 0));
    std::vector<std::vector<size_t>> splits(count, std::vector<size_t>(count, 0));
    for (size_t distance = 1; distance < count; ++distance)
        for (size_t i = 0; i + distance < count; ++i) {
            const size_t j = i + distance;
            costs[i][j] = std::numeric_limits<double>::infinity();
            for (size_t k = i; k < j; ++k) {
                const double cost =
                    costs[i][k] + costs[k + 1][j] + lengths[i] * lengths[k + 1] * lengths[j + 1];
                if (cost < costs[i][j]) costs[i][j] = cost, splits[i][j] = k;
            }
        }
    return splits;
}

// The product of matrices i to j. Depth is the number of operands at most, which a call names.
Tensor product(const std::vector<Tensor>& matrices, const std::vector<std::vector<size_t>>& splits,
               size_t i, size_t j) {
    if (i == j) return matrices[i];
    const size_t k = splits[i][j];
    return numpy::dot(product(matrices, splits, i, k), product(matrices, splits, k + 1, j));
}

}  // namespace

Tensor multi_dot(const std::vector<Tensor>& arrays) {
    user_check(arrays.size() >= 2, "multi_dot: Expecting at least two arrays, not ", arrays.size(),
               ".");
    return errors_as("multi_dot", [&] {
        if (arrays.size() == 2) return numpy::dot(arrays[0], arrays[1]);
        std::vector<Tensor> matrices = arrays;
        const bool is_row = arrays.front().rank() == 1, is_column = arrays.back().rank() == 1;
        if (is_row) matrices.front() = reshape(arrays.front(), {1, -1});
        if (is_column) matrices.back() = reshape(arrays.back(), {-1, 1});
        for (const Tensor& x : matrices)
            user_check<LinAlgError>(x.rank() == 2, "multi_dot: ", x.rank(),
                                    "-dimensional array given. Array must be two-dimensional.");
        // Of three, NumPy takes a (b c) when both ways cost the same; of more, the first split.
        std::vector<double> lengths;
        for (const Tensor& x : matrices) lengths.push_back(static_cast<double>(x.shape()[0]));
        lengths.push_back(static_cast<double>(matrices.back().shape()[1]));
        const Tensor result = product(matrices, best_splits(lengths), 0, matrices.size() - 1);
        if (is_row && is_column) return reshape(result, {});
        return is_row || is_column ? ravel(result) : result;
    });
}

}  // namespace composit::numpy::linalg
