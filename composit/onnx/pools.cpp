// Pools: extrema, means and norms over windows of images, and over all of them.
#include "composit/nn/pooling.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/writing.h"
#include "composit/onnx/images.h"
#include "composit/onnx/operators.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <limits>

namespace composit::onnx {
namespace pools {
namespace {

using numpy::apply;

// x with the padding that whole windows need: elements of a value around, or less of x.
Tensor padded(const Tensor& x, const Windows& windows, double value) {
    std::vector<int64_t> low{0, 0}, high{0, 0};
    for (size_t i = 0; i < windows.axes(); ++i) {
        const int64_t end = (windows.counts[i] - 1) * windows.strides[i] + windows.extent(i);
        low.push_back(windows.low[i]);
        high.push_back(end - x.shape()[i + 2] - windows.low[i]);
    }
    return ops::pad(x, numpy::scalar(x.dtype(), value), low, high,
                    std::vector<int64_t>(low.size(), 0));
}

nn::PoolOptions options_of(const Windows& windows) {
    nn::PoolOptions options;
    options.kernel_size = windows.kernel;
    options.strides = windows.strides;
    options.dilation = windows.dilations;
    return options;
}

double least_of(DType dtype) {
    if (ir::is_floating(dtype)) return -std::numeric_limits<double>::infinity();
    return dtype == DType::int8 ? -128 : 0;
}

// Positions in the padded image as positions in the whole of x, by rows or, within an image, by
// columns.
Tensor positions_in_x(const Tensor& places, const Shape& x, const Shape& padded_shape,
                      const Windows& windows, bool by_columns) {
    const size_t axes = windows.axes();
    Tensor rest = places, result = numpy::zeros_like(places);
    int64_t row_stride = 1, column_stride = 1;
    for (size_t i = 0; i < axes; ++i) column_stride *= x[i + 2];
    const int64_t image = column_stride;
    for (size_t i = axes; i-- > 0;) {
        const Tensor at = rest % padded_shape[i + 2] - windows.low[i];
        rest = apply("floor_divide", {rest, padded_shape[i + 2]});
        column_stride /= x[i + 2];
        result = result + at * (by_columns ? column_stride : row_stride);
        row_stride *= x[i + 2];
    }
    Shape images(x.size(), 1);
    images[0] = x[0];
    images[1] = x[1];
    return result + numpy::reshape(numpy::arange(x[0] * x[1]), images) * image;
}

Values max_pool(Call& call) {
    const Tensor& x = call.tensor(0);
    const Windows windows = windows_of(call, x.shape());
    const Tensor around = padded(x, windows, least_of(x.dtype()));
    if (!call.wants(1)) return {nn::max_pool(around, options_of(windows))};
    const auto [values, places] = nn::max_pool_with_indices(around, options_of(windows));
    return {values, positions_in_x(places, x.shape(), around.shape(), windows,
                                   call.integer("storage_order", 0) == 1)};
}

// How many elements of x, or of x and its padding, each window has along an axis.
std::vector<double> counts_along(const Windows& windows, size_t axis, int64_t length,
                                 bool with_padding) {
    std::vector<double> counts;
    const int64_t low = with_padding ? -windows.low[axis] : 0;
    const int64_t high = with_padding ? length + windows.high[axis] : length;
    for (int64_t i = 0; i < windows.counts[axis]; ++i) {
        int64_t count = 0;
        for (int64_t k = 0; k < windows.kernel[axis]; ++k) {
            const int64_t at =
                i * windows.strides[axis] - windows.low[axis] + k * windows.dilations[axis];
            count += at >= low && at < high;
        }
        counts.push_back(static_cast<double>(count));
    }
    return counts;
}

// Sums over windows.
Tensor window_sums(const Tensor& x, const Windows& windows) {
    nn::PoolOptions options = options_of(windows);
    options.divisor = 1;
    return nn::average_pool(padded(x, windows, 0), options);
}

Values average_pool(Call& call) {
    const Tensor& x = call.tensor(0);
    const Windows windows = windows_of(call, x.shape());
    const bool with_padding = call.flag("count_include_pad");
    Tensor counts = numpy::scalar(DType::float64, 1);
    for (size_t i = 0; i < windows.axes(); ++i) {
        Shape shape(windows.axes(), 1);
        shape[i] = windows.counts[i];
        counts = counts * numpy::array<double>(
                              counts_along(windows, i, x.shape()[i + 2], with_padding), shape);
    }
    const Tensor divisors = numpy::asarray(call.known(numpy::astype(counts, x.dtype())));
    return {window_sums(x, windows) / divisors};
}

// p-th powers of absolute values, whose sums' roots are norms.
Tensor powers(const Tensor& x, int64_t p) {
    return p == 2 ? x * x : numpy::raised(apply("absolute", {x}), static_cast<double>(p));
}
Tensor roots(const Tensor& sums, int64_t p) {
    return p == 2 ? apply("sqrt", {sums}) : numpy::raised(sums, 1.0 / static_cast<double>(p));
}

Values lp_pool(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t p = call.integer("p", 2);
    return {roots(window_sums(powers(x, p), windows_of(call, x.shape())), p)};
}

std::vector<int64_t> spatial_axes(const Call& call, const Tensor& x) {
    call.check(x.rank() >= 2, "an image of shape ", x.shape(),
               ". A batch and channels are required.");
    std::vector<int64_t> axes;
    for (int64_t i = 2; i < x.rank(); ++i) axes.push_back(i);
    return axes;
}

Values global_average_pool(Call& call) {
    const Tensor& x = call.tensor(0);
    return {numpy::mean(x, spatial_axes(call, x), {}, true)};
}
Values global_max_pool(Call& call) {
    const Tensor& x = call.tensor(0);
    return {numpy::max(x, spatial_axes(call, x), true)};
}
Values global_lp_pool(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t p = call.integer("p", 2);
    return {roots(numpy::sum(powers(x, p), spatial_axes(call, x), {}, true), p)};
}

// Elements back at the positions that a MaxPool gave, among zeros.
Values max_unpool(Call& call) {
    const Tensor &x = call.tensor(0), &places = call.tensor(1);
    const size_t axes = x.shape().size() - 2;
    const std::vector<int64_t> kernel = call.integers("kernel_shape");
    std::vector<int64_t> strides = call.integers("strides"), pads = call.integers("pads");
    if (strides.empty()) strides.assign(axes, 1);
    if (pads.empty()) pads.assign(2 * axes, 0);
    call.check(x.rank() >= 3 && kernel.size() == axes && strides.size() == axes &&
                   pads.size() == 2 * axes && places.shape() == x.shape(),
               "values of shape ", x.shape(), ", indices of shape ", places.shape(),
               " and a kernel of shape ", kernel,
               ". Shapes that are equal, and a length for each spatial axis, are required.");
    Shape shape{x.shape()[0], x.shape()[1]};
    for (size_t i = 0; i < axes; ++i)
        shape.push_back((x.shape()[i + 2] - 1) * strides[i] - pads[i] - pads[i + axes] + kernel[i]);
    const Tensor zeros = numpy::zeros(shape, x.dtype());
    const Tensor whole = numpy::reshape(
        numpy::set_item(numpy::ravel(zeros), {numpy::ravel(places)}, numpy::ravel(x)), shape);
    if (!call.has(2)) return {whole};
    const std::vector<int64_t> wanted = call.known_integers(2);
    call.check(wanted.size() == shape.size(), "output_shape is ", wanted,
               ". A length for each axis is required.");
    std::vector<int64_t> high;
    for (size_t i = 0; i < shape.size(); ++i) high.push_back(wanted[i] - shape[i]);
    const std::vector<int64_t> none(shape.size(), 0);
    return {ops::pad(whole, numpy::scalar(x.dtype(), 0), none, high, none)};
}

// x divided by a power of the squares of near channels.
Values local_response_normalization(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t size = call.integer("size"), before = (size - 1) / 2;
    call.check(x.rank() >= 3 && size > 0, "size ", size, " over an image of shape ", x.shape(),
               ". Channels and a positive size are required.");
    std::vector<int64_t> low(x.shape().size(), 0), high(x.shape().size(), 0);
    low[1] = before;
    high[1] = size - 1 - before;
    const Tensor squares = ops::pad(x * x, numpy::scalar(x.dtype(), 0), low, high,
                                    std::vector<int64_t>(low.size(), 0));
    const Tensor near = numpy::moveaxis(
        numpy::sum(ops::windows(numpy::moveaxis(squares, 1, -1), {size}, {1}, {1}), -1), -1, 1);
    const double alpha = call.number("alpha", 1e-4f) / static_cast<double>(size);
    const Tensor base = call.number("bias", 1) + alpha * near;
    return {x / numpy::raised(base, call.number("beta", 0.75))};
}

}  // namespace
}  // namespace pools

void add_pools(Registry& registry) {
    using namespace pools;
    registry.add("AveragePool", average_pool);
    registry.add("GlobalAveragePool", global_average_pool);
    registry.add("GlobalLpPool", global_lp_pool);
    registry.add("GlobalMaxPool", global_max_pool);
    registry.add("LRN", local_response_normalization);
    registry.add("LpPool", lp_pool);
    registry.add("MaxPool", max_pool);
    registry.add("MaxUnpool", max_unpool);
}

}  // namespace composit::onnx
