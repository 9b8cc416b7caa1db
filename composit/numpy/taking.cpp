// Taking elements by position, windows, and coordinate grids.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/known_values.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy {
namespace {

using Axes = std::vector<int64_t>;

void check_integers(std::string_view function, const Tensor& indices) {
    user_check<TypeError>(ir::is_integer(indices.dtype()), function,
                          ": Cannot cast array data from dtype('", indices.dtype(),
                          "') to dtype('int64') according to the rule 'safe'. Indices must be "
                          "integers.");
}

Shape without(const Shape& shape, int64_t axis) {
    Shape result = shape;
    result.erase(result.begin() + axis);
    return result;
}

}  // namespace

Tensor take(const Tensor& x, const Tensor& indices, std::optional<int64_t> axis,
            std::string_view mode) {
    if (!axis) return take(ravel(x), indices, 0, mode);
    check_integers("take", indices);
    const int64_t along = normalize_axis("take", *axis, x.rank());
    const int64_t length = x.shape()[static_cast<size_t>(along)];
    Tensor positions = ops::astype(indices, DType::int64);
    if (mode == "raise") {
        check_bounds(positions, along, length);
    } else {
        user_check(mode == "wrap" || mode == "clip", "take: clipmode '", mode,
                   "' not understood. Available: raise, wrap, clip.");
        user_check<IndexError>(length > 0 || positions.size() == 0,
                               "cannot do a non-empty take from an empty axes.");
        if (mode == "wrap")
            positions = apply("remainder", {positions, length});
        else
            positions = apply("minimum", {apply("maximum", {positions, 0}), length - 1});
    }
    const Tensor taken = ops::gather(x, {positions}, {along});
    Axes from, to;
    for (int64_t d = 0; d < indices.rank(); ++d) {
        from.push_back(d);
        to.push_back(along + d);
    }
    const Tensor result = moveaxis(taken, from, to);
    if (along != 0 || !ir::is_constant(positions.node())) return result;
    return with_known_rows(result, x, length, ir::constant_value(positions.node()));
}

Tensor take_along_axis(const Tensor& x, const Tensor& indices, std::optional<int64_t> axis) {
    user_check<IndexError>(ir::is_integer(indices.dtype()),
                           "take_along_axis: `indices` must be an integer array, not ",
                           indices.dtype(), ".");
    if (!axis) {
        user_check(indices.rank() == 1,
                   "take_along_axis: when axis=None, `indices` must have a "
                   "single dimension, not ",
                   indices.rank(), ".");
        return take_along_axis(ravel(x), indices, 0);
    }
    user_check(x.rank() == indices.rank(),
               "take_along_axis: `indices` and `arr` must have the same "
               "number of dimensions: ",
               indices.shape(), " and ", x.shape(), ".");
    const int64_t along = normalize_axis("take_along_axis", *axis, x.rank());
    check_bounds(indices, along, x.shape()[static_cast<size_t>(along)]);
    const Shape others = ops::broadcast_shapes(
        "take_along_axis", {without(x.shape(), along), without(indices.shape(), along)});
    Shape shape = others, data_shape = others;
    shape.insert(shape.begin() + along, indices.shape()[static_cast<size_t>(along)]);
    data_shape.insert(data_shape.begin() + along, x.shape()[static_cast<size_t>(along)]);
    std::vector<Tensor> positions;
    Axes axes;
    for (int64_t d = 0; d < x.rank(); ++d) {
        positions.push_back(d == along ? ops::broadcast_to(indices, shape) : ops::iota(shape, d));
        axes.push_back(d);
    }
    return ops::gather(broadcast_to(x, data_shape), positions, axes);
}

Tensor sliding_window_view(const Tensor& x, const std::vector<int64_t>& window, const Axis& axis) {
    user_check(!axis.is_none() || static_cast<int>(window.size()) == x.rank(),
               "sliding_window_view: Since axis is None, must provide window_shape for all "
               "dimensions of `x`; got ",
               window.size(), " window_shape elements and `x.ndim` is ", x.rank(), ".");
    const Axes axes = axis.of("sliding_window_view", x.rank());
    user_check(axes.size() == window.size(),
               "sliding_window_view: Must provide matching length "
               "window_shape and axis; got ",
               window.size(), " window_shape elements and ", axes.size(), " axes elements.");
    Axes last;
    bool has_elements = true;
    for (size_t i = 0; i < axes.size(); ++i) {
        has_elements = has_elements && window[i] != 0;
        user_check(window[i] >= 0,
                   "sliding_window_view: `window_shape` cannot contain negative "
                   "values: ",
                   window, ".");
        user_check(window[i] <= x.shape()[static_cast<size_t>(axes[i])],
                   "sliding_window_view: window shape cannot be larger than input array shape: ",
                   window, " along axes ", axes, " of ", x.shape(), ".");
        last.push_back(x.rank() - static_cast<int64_t>(axes.size() - i));
    }
    if (!has_elements) {  // windows without elements: one more than there are places
        Shape shape = x.shape();
        for (size_t i = 0; i < axes.size(); ++i)
            shape[static_cast<size_t>(axes[i])] -= window[i] - 1;
        shape.insert(shape.end(), window.begin(), window.end());
        return zeros(shape, x.dtype());
    }
    const Axes ones(axes.size(), 1);
    return errors_as("sliding_window_view", [&] {
        return moveaxis(ops::windows(moveaxis(x, axes, last), window, ones, ones), last, axes);
    });
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& axes, std::string_view indexing,
                             bool is_sparse) {
    user_check(indexing == "xy" || indexing == "ij",
               "meshgrid: Valid values for `indexing` are 'xy' and 'ij', not '", indexing, "'.");
    const size_t n = axes.size();
    const auto place = [&](size_t i) { return indexing == "xy" && n > 1 && i < 2 ? 1 - i : i; };
    Shape shape(n, 1);
    for (size_t i = 0; i < n; ++i) shape[place(i)] = axes[i].size();
    std::vector<Tensor> result;
    for (size_t i = 0; i < n; ++i) {
        Shape own(n, 1);
        own[place(i)] = axes[i].size();
        const Tensor line = reshape(axes[i], own);
        result.push_back(is_sparse ? line : broadcast_to(line, shape));
    }
    return result;
}

}  // namespace composit::numpy
