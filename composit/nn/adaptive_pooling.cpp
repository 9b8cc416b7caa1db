// Pooling to a number of results: adaptive and global.
#include "composit/base/errors_as.h"
#include "composit/nn/checks.h"
#include "composit/nn/pooling.h"
#include "composit/nn/spatial.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/reductions.h"

#include <algorithm>

namespace composit::nn {
namespace {

using ir::DType;
using ir::Shape;

// Windows along one axis that begin at `starts`, as wide as the widest: which element each place
// looks at, and whether it belongs to the window. Places behind a window's end repeat its last
// element.
struct Lookup {
    std::vector<int64_t> places;
    std::vector<double> belongs, sizes;
    int64_t results = 0, width = 0;
};

Lookup lookup(int64_t length, int64_t results) {
    Lookup made;
    made.results = results;
    const auto begin = [&](int64_t i) { return i * length / results; };
    const auto end = [&](int64_t i) { return ((i + 1) * length + results - 1) / results; };
    for (int64_t i = 0; i < results; ++i) made.width = std::max(made.width, end(i) - begin(i));
    for (int64_t i = 0; i < results; ++i) {
        made.sizes.push_back(static_cast<double>(end(i) - begin(i)));
        for (int64_t k = 0; k < made.width; ++k) {
            made.places.push_back(std::min(begin(i) + k, end(i) - 1));
            made.belongs.push_back(begin(i) + k < end(i) ? 1 : 0);
        }
    }
    return made;
}

std::vector<Lookup> lookups(std::string_view function, const Tensor& x,
                            const std::vector<int64_t>& output_size, bool channels_last) {
    const size_t count = spatial_axes(function, x);
    user_check(!output_size.empty(), function, ": output_size is empty.");
    const Axes sizes = per_axis(function, "output_size", output_size, count, 1, 0);
    std::vector<Lookup> made;
    for (size_t d = 0; d < count; ++d) {
        const int64_t length = x.shape()[d + (channels_last ? 1 : 2)];
        user_check(length > 0, function, ": x has shape ", x.shape(),
                   ". Spatial axes that are not empty are required.");
        made.push_back(lookup(length, sizes[d]));
    }
    return made;
}

bool is_even(const std::vector<Lookup>& axes) {
    return std::all_of(axes.begin(), axes.end(), [](const Lookup& axis) {
        return std::all_of(axis.belongs.begin(), axis.belongs.end(), [](double b) { return b; });
    });
}

// (batch, channels, results…, width…)
Tensor seen_windows(Tensor x, const std::vector<Lookup>& axes) {
    const auto count = static_cast<int64_t>(axes.size());
    for (int64_t d = 0; d < count; ++d) {
        const Lookup& axis = axes[static_cast<size_t>(d)];
        if (axis.results * axis.width == x.shape()[static_cast<size_t>(d) + 2]) {
            Shape apart = x.shape();  // side by side: a view
            apart[static_cast<size_t>(d) + 2] = axis.results;
            apart.insert(apart.begin() + d + 3, axis.width);
            x = numpy::moveaxis(numpy::reshape(x, apart), d + 3, -1);
            continue;
        }
        const Tensor places = numpy::array<int64_t>(axis.places, {axis.results, axis.width});
        // The width, next to the results, moves behind all of them.
        x = numpy::moveaxis(numpy::take(x, places, d + 2), d + 3, -1);
    }
    return x;
}

// An array over one axis's (results, width), aligned with seen_windows' axes.
Tensor aligned(const std::vector<double>& values, size_t axis, size_t count, int64_t results,
               int64_t width, DType dtype) {
    Shape shape(2 * count, 1);
    shape[axis] = results;
    shape[axis + count] = width;
    return numpy::astype(numpy::array<double>(values, shape), dtype);
}

std::vector<int64_t> trailing(size_t count) {
    std::vector<int64_t> axes;
    for (size_t d = 0; d < count; ++d)
        axes.push_back(static_cast<int64_t>(d) - static_cast<int64_t>(count));
    return axes;
}

// What stands in flattened windows where others of their shape have their first maximum.
Tensor at_first_maxima(const Tensor& windows, const Tensor& values, size_t count) {
    Shape flat(windows.shape().begin(), windows.shape().end() - static_cast<long>(count));
    int64_t width = 1;
    for (size_t d = windows.shape().size() - count; d < windows.shape().size(); ++d)
        width *= windows.shape()[d];
    flat.push_back(width);
    const Tensor first = numpy::argmax(numpy::reshape(windows, flat), -1, true);
    return numpy::squeeze(numpy::take_along_axis(numpy::reshape(values, flat), first, -1), -1);
}

std::vector<int64_t> ones(const Tensor& x) {
    return std::vector<int64_t>(x.rank() >= 3 ? static_cast<size_t>(x.rank()) - 2 : 1, 1);
}

}  // namespace

Tensor adaptive_average_pool(const Tensor& x, const std::vector<int64_t>& output_size,
                             bool channels_last) {
    constexpr std::string_view name = "adaptive_average_pool";
    const auto axes = lookups(name, x, output_size, channels_last);
    const size_t count = axes.size();
    return numpy::one_node(name, {floating(name, x)}, [&](const numpy::Tensors& operands) {
        const DType dtype = operands[0].dtype();
        Tensor windows = seen_windows(channels_first(operands[0], channels_last), axes);
        if (is_even(axes))
            return channels_back(numpy::mean(windows, trailing(count)), channels_last);
        for (size_t d = 0; d < count; ++d) {
            const Tensor belongs =
                aligned(axes[d].belongs, d, count, axes[d].results, axes[d].width, DType::boolean);
            windows = numpy::apply("where", {belongs, windows, numpy::scalar(dtype, 0)});
        }
        Tensor sizes = numpy::scalar(dtype, 1);
        for (size_t d = 0; d < count; ++d) {
            Shape shape(count, 1);
            shape[d] = axes[d].results;
            const Tensor along = numpy::array<double>(axes[d].sizes, shape);
            sizes = numpy::apply("multiply", {sizes, numpy::astype(along, dtype)});
        }
        const Tensor sum = numpy::sum(windows, trailing(count));
        return channels_back(numpy::apply("divide", {sum, sizes}), channels_last);
    });
}

Tensor adaptive_max_pool(const Tensor& x, const std::vector<int64_t>& output_size,
                         bool channels_last) {
    constexpr std::string_view name = "adaptive_max_pool";
    user_check<TypeError>(!ir::is_complex(x.dtype()), name, ": x is ", x.dtype(),
                          ". A real dtype is required.");
    const auto axes = lookups(name, x, output_size, channels_last);
    return numpy::one_node(name, {numpy::strong(x)}, [&](const numpy::Tensors& operands) {
        const Tensor windows = seen_windows(channels_first(operands[0], channels_last), axes);
        return channels_back(at_first_maxima(windows, windows, axes.size()), channels_last);
    });
}

std::pair<Tensor, Tensor> adaptive_max_pool_with_indices(const Tensor& x,
                                                         const std::vector<int64_t>& output_size,
                                                         bool channels_last) {
    constexpr std::string_view name = "adaptive_max_pool_with_indices";
    user_check<TypeError>(!ir::is_complex(x.dtype()), name, ": x is ", x.dtype(),
                          ". A real dtype is required.");
    const auto axes = lookups(name, x, output_size, channels_last);
    const Tensor places =
        numpy::one_node(name, {numpy::strong(x)}, [&](const numpy::Tensors& operands) {
            const Tensor first = channels_first(operands[0], channels_last);
            const auto count = static_cast<long>(axes.size());
            const Shape spatial(first.shape().end() - count, first.shape().end());
            const Tensor windows = seen_windows(first, axes);
            Shape image(2, 1);
            image.insert(image.end(), spatial.begin(), spatial.end());
            const Tensor numbers = seen_windows(
                numpy::reshape(numpy::arange(ir::element_count(spatial)), image), axes);
            return channels_back(
                at_first_maxima(windows, numpy::broadcast_to(numbers, windows.shape()),
                                axes.size()),
                channels_last);
        });
    return {adaptive_max_pool(x, output_size, channels_last), places};
}

Tensor global_average_pool(const Tensor& x, bool channels_last) {
    return errors_as("global_average_pool",
                     [&] { return adaptive_average_pool(x, ones(x), channels_last); });
}

Tensor global_max_pool(const Tensor& x, bool channels_last) {
    return errors_as("global_max_pool",
                     [&] { return adaptive_max_pool(x, ones(x), channels_last); });
}

}  // namespace composit::nn
