// Products, adjoints and triangles of batches of matrices.
#include "composit/ops/matrices.h"

#include "composit/ops/components.h"
#include "composit/ops/part.h"

#include <numeric>

namespace composit::ops {
namespace {

Axes batch_axes(const Tensor& x) {
    Axes axes(static_cast<size_t>(x.rank() - 2));
    std::iota(axes.begin(), axes.end(), int64_t{0});
    return axes;
}

Tensor zero(DType dtype) { return ir::constant(Array::zeros(dtype, {})); }

// Of each element of x: the number of its row, its column.
Tensor row_numbers(const Tensor& x) { return iota(x.shape(), x.rank() - 2); }
Tensor column_numbers(const Tensor& x) { return iota(x.shape(), x.rank() - 1); }

Tensor where(std::string_view comparison, const Tensor& x) {
    const Tensor mask = map(comparison, {row_numbers(x), column_numbers(x)});
    return map("where", {mask, x, zero(x.dtype())});
}

}  // namespace

Tensor plus(const Tensor& a, const Tensor& b) { return map("add", {a, b}); }
Tensor minus(const Tensor& a, const Tensor& b) { return map("subtract", {a, b}); }
Tensor times(const Tensor& a, const Tensor& b) { return map("multiply", {a, b}); }
Tensor halved(const Tensor& x) { return times(x, ir::weak_scalar(0.5)); }

Tensor product(const Tensor& a, const Tensor& b) {
    const int64_t last = a.rank() - 1;
    return contract(a, b, {batch_axes(a), batch_axes(b), {last}, {last - 1}});
}

Tensor transposed(const Tensor& x) {
    Axes order(static_cast<size_t>(x.rank()));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return transpose(x, order);
}

Tensor adjoint(const Tensor& x) { return transposed(conjugated(x)); }

Tensor identity_like(const Tensor& x) {
    const Tensor mask = map("equal", {row_numbers(x), column_numbers(x)});
    return astype(mask, x.dtype());
}

Tensor as_column(const Tensor& x) {
    Shape shape = x.shape();
    shape.push_back(1);
    return reshape(x, shape);
}

Tensor as_row(const Tensor& x) {
    Shape shape = x.shape();
    shape.insert(shape.end() - 1, 1);
    return reshape(x, shape);
}

Tensor diagonal_matrix(const Tensor& x) {
    Shape shape = x.shape();
    shape.push_back(shape.back());
    return where("equal", broadcast_to(as_column(x), shape));
}

Tensor lower_triangle(const Tensor& x) { return where("greater_equal", x); }
Tensor upper_triangle(const Tensor& x) { return where("less_equal", x); }
Tensor off_diagonal(const Tensor& x) { return where("not_equal", x); }

Tensor half_lower_triangle(const Tensor& x) {
    return plus(where("greater", x), halved(where("equal", x)));
}

Tensor columns_of(const Tensor& x, int64_t start, int64_t count) {
    return part(x, x.rank() - 1, start, count);
}

Tensor rows_of(const Tensor& x, int64_t start, int64_t count) {
    return part(x, x.rank() - 2, start, count);
}

}  // namespace composit::ops
