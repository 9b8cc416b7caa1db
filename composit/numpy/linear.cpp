// matmul, dot, inner, outer, vdot, tensordot and diagonals, as contractions.
#include "composit/numpy/linear.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/matrices.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy {
namespace {

using Axes = std::vector<int64_t>;

int64_t length(const Tensor& x, int64_t axis) { return x.shape()[static_cast<size_t>(axis)]; }

// In whose name NumPy reports errors of floating point: inner and tensordot are dot there.
const ir::Interned in_matmul = ir::intern("matmul"), in_dot = ir::intern("dot");

bool is_of_blas(const Tensor& a, const Tensor& b) {
    const DType real = ir::real_part_of(result_type({a, b}));
    return real == DType::float32 || real == DType::float64;
}

// a b of BLAS's dtypes, where one of them is one number. NumPy adds the other, times it, to zeros,
// unless it is zero itself: the other's infinities and NaN leave no NaN then.
Tensor times_number(const Tensor& a, const Tensor& b) {
    const ir::ReportingScope reporting(in_dot);
    const auto both = promoted({a, b});
    if (a.size() == 1 && b.size() == 1) return apply("multiply", {both[0], both[1]});
    const size_t one = a.size() == 1 ? 0 : 1;
    const Tensor number = reshape(both[one], Shape{});
    const Tensor& others = both[1 - one];
    const Tensor zero = scalar(number.dtype(), 0);
    const Tensor is_infinite = apply("logical_not", {apply("isfinite", {others})});
    const Tensor is_left_out = apply("logical_and", {apply("equal", {number, zero}), is_infinite});
    return apply("multiply", {number, apply("where", {is_left_out, zero, others})}) + zero;
}

// a b where one of them is a scalar: BLAS's dtypes are dot's business, others multiply's.
Tensor scaled(std::string_view function, const Tensor& a, const Tensor& b) {
    return errors_as(function, [&] {
        const bool is_small = a.rank() <= 2 && b.rank() <= 2 && is_of_blas(a, b);
        return is_small ? times_number(a, b) : apply("multiply", {a, b});
    });
}

// Sum over axis_a of a paired with axis_b of b, after promotion; no batch.
Tensor contracted(std::string_view function, const Tensor& a, const Tensor& b, int64_t axis_a,
                  int64_t axis_b) {
    user_check(length(a, axis_a) == length(b, axis_b), function,
               ": inner dimensions differ: a has shape ", a.shape(), ", b has shape ", b.shape(),
               ". a.shape[", axis_a, "] must equal b.shape[", axis_b, "].");
    return errors_as(function, [&] {
        const auto both = promoted({a, b});
        return ops::contract(both[0], both[1], {{}, {}, {axis_a}, {axis_b}});
    });
}

// As NumPy's dot: a matrix of one number is a factor.
Tensor multiplied(std::string_view function, const Tensor& a, const Tensor& b, int64_t axis_a,
                  int64_t axis_b) {
    const ir::ReportingScope reporting(in_dot);
    const Tensor result = contracted(function, a, b, axis_a, axis_b);
    const bool has_number = a.size() == 1 || b.size() == 1;
    if (!has_number || a.rank() > 2 || b.rank() > 2 || !is_of_blas(a, b)) return result;
    return errors_as(function, [&] { return reshape(times_number(a, b), result.shape()); });
}

using ops::batch_of;

Tensor spread(const Tensor& x, Shape batch) {
    batch.insert(batch.end(), x.shape().end() - 2, x.shape().end());
    return batch == x.shape() ? x : ops::broadcast_to(x, batch);
}

Shape without(const Shape& shape, const Axes& axes) {
    Shape rest;
    for (size_t d = 0; d < shape.size(); ++d)
        if (std::count(axes.begin(), axes.end(), static_cast<int64_t>(d)) == 0)
            rest.push_back(shape[d]);
    return rest;
}

bool all_ones(const Shape& shape) {
    return std::all_of(shape.begin(), shape.end(), [](int64_t n) { return n == 1; });
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
    for (const Tensor* x : {&a, &b})
        user_check(x->rank() > 0, "matmul: Input operand ", x == &a ? 0 : 1,
                   " does not have enough dimensions: a has shape ", a.shape(), ", b has shape ",
                   b.shape(), ". Use multiply for scalars.");
    const int64_t last = a.rank() - 1, inner = std::max(b.rank() - 2, 0);
    const ir::ReportingScope reporting(in_matmul);
    // Rows of a meet one matrix: the leading axes of a are rows too. A 1-d a meets the matrices of
    // b.
    if (b.rank() <= 2 || a.rank() == 1) return contracted("matmul", a, b, last, inner);

    user_check(length(a, last) == length(b, inner), "matmul: inner dimensions differ: a has shape ",
               a.shape(), ", b has shape ", b.shape(), ". a.shape[", last, "] must equal b.shape[",
               inner, "].");
    const Shape batch = ops::broadcast_shapes("matmul", {batch_of(a), batch_of(b)});
    const auto both = promoted({a, b});
    if (all_ones(batch_of(b))) {
        const Tensor matrix = ops::reshape(both[1], {length(b, inner), b.shape().back()});
        Shape shape = batch;
        shape.insert(shape.end(), {a.shape()[static_cast<size_t>(last - 1)], b.shape().back()});
        return reshape(ops::contract(both[0], matrix, {{}, {}, {last}, {0}}), shape);
    }
    Axes axes;
    for (size_t d = 0; d < batch.size(); ++d) axes.push_back(static_cast<int64_t>(d));
    const auto n = static_cast<int64_t>(batch.size());
    return ops::contract(spread(both[0], batch), spread(both[1], batch),
                         {axes, axes, {n + 1}, {n}});
}

Tensor dot(const Tensor& a, const Tensor& b) {
    if (a.rank() == 0 || b.rank() == 0) return scaled("dot", a, b);
    return multiplied("dot", a, b, a.rank() - 1, std::max(b.rank() - 2, 0));
}

Tensor inner(const Tensor& a, const Tensor& b) {
    if (a.rank() == 0 || b.rank() == 0) return scaled("inner", a, b);
    return multiplied("inner", a, b, a.rank() - 1, b.rank() - 1);
}

Tensor outer(const Tensor& a, const Tensor& b) {
    return errors_as("outer", [&] {
        return apply("multiply", {reshape(a, {a.size(), 1}), reshape(b, {1, b.size()})});
    });
}

Tensor vdot(const Tensor& a, const Tensor& b) {
    user_check(a.size() == b.size(), "vdot: cannot reshape array of size ", b.size(),
               " into shape ", Shape{a.size()}, ". Both must have the same number of elements.");
    const Tensor first = ravel(a);
    return contracted("vdot", ir::is_complex(a.dtype()) ? apply("conjugate", {first}) : first,
                      ravel(b), 0, 0);
}

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t axes) {
    user_check(axes >= 0 && axes <= a.rank() && axes <= b.rank(), "tensordot: axes is ", axes,
               ", a has shape ", a.shape(), ", b has shape ", b.shape(),
               ". It must be between 0 and both ranks.");
    Axes axes_a, axes_b;
    for (int64_t i = 0; i < axes; ++i) {
        axes_a.push_back(a.rank() - axes + i);
        axes_b.push_back(i);
    }
    return tensordot(a, b, axes_a, axes_b);
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes_a, const Axes& axes_b) {
    const Axes left = normalize_axes("tensordot", axes_a, a.rank());
    const Axes right = normalize_axes("tensordot", axes_b, b.rank());
    bool fits = left.size() == right.size();
    for (size_t i = 0; fits && i < left.size(); ++i)
        fits = length(a, left[i]) == length(b, right[i]);
    user_check(fits, "tensordot: shape-mismatch for sum: a has shape ", a.shape(), " and axes ",
               axes_a, ", b has shape ", b.shape(), " and axes ", axes_b,
               ". Paired axes must have equal lengths.");
    const ir::ReportingScope reporting(in_dot);
    return errors_as("tensordot", [&] {
        const auto both = promoted({a, b});
        const bool has_number = a.size() == 1 || b.size() == 1;
        if (!left.empty() && !(has_number && is_of_blas(a, b)))
            return ops::contract(both[0], both[1], {{}, {}, left, right});
        Shape shape = without(a.shape(), left);
        const Shape others = without(b.shape(), right);
        if (has_number && is_of_blas(a, b)) {
            shape.insert(shape.end(), others.begin(), others.end());
            return reshape(times_number(a, b), shape);
        }
        shape.insert(shape.end(), others.size(), 1);
        const Tensor products = apply("multiply", {reshape(both[0], shape), both[1]});
        return is_floating(products.dtype()) ? products + scalar(products.dtype(), 0) : products;
    });
}

Tensor diagonal(const Tensor& x, int64_t offset, int64_t axis1, int64_t axis2) {
    user_check(x.rank() >= 2, "diagonal: diag requires an array of at least two dimensions, not ",
               x.shape(), ".");
    const int64_t first = normalize_axis("diagonal", axis1, x.rank());
    const int64_t second = normalize_axis("diagonal", axis2, x.rank());
    user_check(first != second, "diagonal: axis1 and axis2 cannot be the same: both are ", first,
               ".");
    const Tensor moved = moveaxis(x, {first, second}, {-2, -1});
    const int64_t rows = length(moved, x.rank() - 2), columns = length(moved, x.rank() - 1);
    const int64_t row = offset < 0 ? -offset : 0, column = offset > 0 ? offset : 0;
    const int64_t count = std::max<int64_t>(0, std::min(rows - row, columns - column));
    // Flattened, neighbours on a diagonal are columns + 1 apart.
    Shape flat = batch_of(moved);
    flat.push_back(rows * columns);
    Axes starts(flat.size(), 0), steps(flat.size(), 1);
    Shape lengths = flat;
    starts.back() = count ? row * columns + column : 0;
    lengths.back() = count;
    steps.back() = columns + 1;
    return ops::slice(reshape(moved, flat), starts, lengths, steps);
}

Tensor trace(const Tensor& x, int64_t offset, int64_t axis1, int64_t axis2) {
    return errors_as("trace", [&] { return sum(diagonal(x, offset, axis1, axis2), -1); });
}

Tensor diag(const Tensor& x, int64_t k) {
    user_check(x.rank() == 1 || x.rank() == 2, "diag: Input must be 1- or 2-d, not ", x.shape(),
               ".");
    if (x.rank() == 2) return diagonal(x, k);
    // One column, then n zeros after each element: read as rows of n, a diagonal.
    const int64_t n = x.shape()[0], side = n + (k < 0 ? -k : k);
    if (n == 0) return zeros({side, side}, x.dtype());
    const Tensor zero = errors_as("diag", [&] { return scalar(x.dtype(), 0); });
    const int64_t first = k < 0 ? -k * side : k;
    const int64_t last = side * side - first - ((n - 1) * (side + 1) + 1);
    return reshape(ops::pad(strong(x), zero, {first}, {last}, {side}), {side, side});
}

}  // namespace composit::numpy
