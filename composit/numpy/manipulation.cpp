// Shapes and orders of axes.
#include "composit/numpy/manipulation.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy {
namespace {

using Axes = std::vector<int64_t>;

Axes in_order(int rank) { return Axis().of("", rank); }

bool holds(const Axes& axes, int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

Tensor reshape(const Tensor& x, const Shape& shape) {
    Shape result = shape;
    int64_t known = 1, unknown = -1;
    bool overflows = false;  // beyond what any array has, unless a length is 0
    for (size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] >= 0) {
            overflows |= __builtin_mul_overflow(known, shape[d], &known);
            continue;
        }
        user_check(shape[d] == -1, "reshape: negative dimensions are not allowed: ", shape,
                   ". -1 stands for one unknown length.");
        user_check(unknown < 0, "reshape: can only specify one unknown dimension: ", shape, ".");
        unknown = static_cast<int64_t>(d);
    }
    if (holds(shape, 0))
        known = 0;
    else if (overflows)
        known = -1;
    const bool fits = unknown < 0 ? known == x.size() : known > 0 && x.size() % known == 0;
    user_check(fits, "reshape: cannot reshape array of size ", x.size(), " into shape ", shape,
               ". The number of elements must stay the same.");
    if (unknown >= 0) result[static_cast<size_t>(unknown)] = x.size() / known;
    return result == x.shape() ? x : ops::reshape(x, result);
}

Tensor ravel(const Tensor& x) { return reshape(x, {x.size()}); }
Tensor flatten(const Tensor& x) { return ravel(x); }

Tensor transpose(const Tensor& x, std::optional<std::vector<int64_t>> axes) {
    Axes order = in_order(x.rank());
    if (!axes) {
        std::reverse(order.begin(), order.end());
    } else {
        user_check(axes->size() == x.shape().size(), "transpose: axes don't match array: axes are ",
                   *axes, ", the array has ", x.rank(), " dimensions. Each axis is needed once.");
        order.clear();
        for (int64_t axis : *axes) {
            const int64_t normal = normalize_axis("transpose", axis, x.rank());
            user_check(!holds(order, normal), "transpose: repeated axis in transpose: ", *axes,
                       ".");
            order.push_back(normal);
        }
    }
    return order == in_order(x.rank()) ? x : ops::transpose(x, order);
}

Tensor permute_dims(const Tensor& x, const std::vector<int64_t>& axes) {
    return errors_as("permute_dims", [&] { return transpose(x, axes); });
}

Tensor matrix_transpose(const Tensor& x) {
    user_check(x.rank() >= 2,
               "matrix_transpose: Input array must be at least 2-dimensional, but it "
               "is ",
               x.rank(), ".");
    return swapaxes(x, -2, -1);
}

Tensor swapaxes(const Tensor& x, int64_t axis1, int64_t axis2) {
    Axes order = in_order(x.rank());
    std::swap(order[static_cast<size_t>(normalize_axis("swapaxes", axis1, x.rank()))],
              order[static_cast<size_t>(normalize_axis("swapaxes", axis2, x.rank()))]);
    return transpose(x, order);
}

Tensor moveaxis(const Tensor& x, const Axis& source, const Axis& destination) {
    const auto axes_of = [&x](std::string_view name, const Axis& axis) {
        if (axis.is_none()) fail<TypeError>("moveaxis: ", name, " is None. Axes are required.");
        Axes all;
        for (int64_t given : axis.axes()) {
            const int64_t at = normalize_axis(text("moveaxis: ", name), given, x.rank());
            user_check(!holds(all, at), "moveaxis: repeated axis in `", name,
                       "` argument: ", axis.axes(), ". Each axis may be given once.");
            all.push_back(at);
        }
        return all;
    };
    const Axes from = axes_of("source", source), to = axes_of("destination", destination);
    user_check(from.size() == to.size(),
               "moveaxis: `source` and `destination` arguments must have "
               "the same number of elements: ",
               from, " and ", to, ".");
    Axes order;
    for (int64_t d = 0; d < x.rank(); ++d)
        if (!holds(from, d)) order.push_back(d);
    std::vector<std::pair<int64_t, int64_t>> moves;
    for (size_t i = 0; i < from.size(); ++i) moves.emplace_back(to[i], from[i]);
    std::sort(moves.begin(), moves.end());
    for (const auto& [place, axis] : moves) order.insert(order.begin() + place, axis);
    return transpose(x, order);
}

Tensor rollaxis(const Tensor& x, int64_t axis, int64_t start) {
    const int64_t from = normalize_axis("rollaxis", axis, x.rank());
    user_check<AxisError>(start >= -x.rank() && start <= x.rank(),
                          "rollaxis: 'start' arg requires ", -x.rank(), " <= start < ",
                          x.rank() + 1, ", but ", start, " was passed in.");
    int64_t to = start < 0 ? start + x.rank() : start;
    if (from < to) --to;
    return moveaxis(x, from, to);
}

Tensor expand_dims(const Tensor& x, const Axis& axis) {
    if (axis.is_none()) fail<TypeError>("expand_dims: axis is required.");
    const int rank = x.rank() + static_cast<int>(axis.axes().size());
    const Axes added = axis.of("expand_dims", rank);
    Shape shape;
    size_t next = 0;
    for (int64_t d = 0; d < rank; ++d) shape.push_back(holds(added, d) ? 1 : x.shape()[next++]);
    return reshape(x, shape);
}

Tensor squeeze(const Tensor& x, const Axis& axis) {
    Axes removed;
    if (!axis.is_none()) removed = axis.of("squeeze", x.rank());
    Shape shape;
    for (int64_t d = 0; d < x.rank(); ++d) {
        const int64_t length = x.shape()[static_cast<size_t>(d)];
        const bool goes = axis.is_none() ? length == 1 : holds(removed, d);
        user_check(!goes || length == 1,
                   "squeeze: cannot select an axis to squeeze out which has "
                   "size not equal to one: axis ",
                   d, " of shape ", x.shape(), ".");
        if (!goes) shape.push_back(length);
    }
    return reshape(x, shape);
}

Tensor atleast_1d(const Tensor& x) { return x.rank() ? x : reshape(x, {1}); }

Tensor atleast_2d(const Tensor& x) { return x.rank() >= 2 ? x : reshape(x, {1, x.size()}); }

Tensor atleast_3d(const Tensor& x) {
    if (x.rank() >= 3) return x;
    if (x.rank() < 2) return reshape(x, {1, x.size(), 1});
    return reshape(x, {x.shape()[0], x.shape()[1], 1});
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
    for (int64_t length : shape)
        user_check(length >= 0,
                   "broadcast_to: all elements of broadcast shape must be "
                   "non-negative: ",
                   shape, ".");
    return shape == x.shape() ? x : ops::broadcast_to(x, shape);
}

std::vector<Tensor> broadcast_arrays(const std::vector<Tensor>& arrays) {
    std::vector<Shape> shapes;
    for (const Tensor& x : arrays) shapes.push_back(x.shape());
    const Shape shape = ops::broadcast_shapes("broadcast_arrays", shapes);
    std::vector<Tensor> result;
    for (const Tensor& x : arrays) result.push_back(broadcast_to(x, shape));
    return result;
}

Shape broadcast_shapes(const std::vector<Shape>& shapes) {
    for (const Shape& shape : shapes)
        user_check(std::ranges::all_of(shape, [](int64_t length) { return length >= 0; }),
                   "broadcast_shapes: negative dimensions are not allowed: ", shape, ".");
    return ops::broadcast_shapes("broadcast_shapes", shapes);
}

Tensor astype(const Tensor& x, DType dtype) { return ops::astype(x, dtype); }

}  // namespace composit::numpy
