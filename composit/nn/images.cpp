// Convolution and pooling.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/nn/operations.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace composit::nn {
namespace {

using ops::Combiner;
using Axes = std::vector<int64_t>;

// One value per spatial axis: those given, a single one repeated, or `missing`.
Axes per_axis(std::string_view function, std::string_view argument, const Axes& given, size_t count,
              int64_t missing, int64_t least) {
    Axes result = given.empty()       ? Axes(count, missing)
                  : given.size() == 1 ? Axes(count, given[0])
                                      : given;
    user_check(result.size() == count, function, ": ", argument, " is ", given, ". One value, or ",
               count, ", is required.");
    for (int64_t value : result)
        user_check(value >= least, function, ": ", argument, " is ", given, ". At least ", least,
                   " is required.");
    return result;
}

size_t spatial_axes(std::string_view function, const Tensor& x) {
    user_check(x.rank() >= 3 && x.rank() <= 5, function, ": x has shape ", x.shape(),
               ". 3, 4 or 5 dimensions (batch, channels and 1 to 3 more) are required.");
    return static_cast<size_t>(x.rank()) - 2;
}

Tensor channels_first(const Tensor& x, bool is_last) {
    return is_last ? numpy::moveaxis(x, -1, 1) : x;
}

Tensor channels_back(const Tensor& x, bool to_last) {
    return to_last ? numpy::moveaxis(x, 1, -1) : x;
}

// ----- pooling over channels-first images, described by these
struct Pool {
    Axes window, strides, padding;
};

void check_window(std::string_view function, const Tensor& x, const Pool& pool, size_t first_axis) {
    for (size_t d = 0; d < pool.window.size(); ++d)
        user_check(x.shape()[d + first_axis] + 2 * pool.padding[d] >= pool.window[d], function,
                   ": the window is larger than the padded input along spatial axis ", d,
                   ": x has shape ", x.shape(), ", kernel_size is ", pool.window, ", padding is ",
                   pool.padding, ".");
}

Pool pool_of(std::string_view function, const Tensor& x, const PoolOptions& options) {
    const size_t count = spatial_axes(function, x);
    user_check(!options.kernel_size.empty(), function, ": kernel_size is empty.");
    Pool pool{per_axis(function, "kernel_size", options.kernel_size, count, 1, 1),
              per_axis(function, "strides", options.strides, count, 1, 1),
              per_axis(function, "padding", options.padding, count, 0, 0)};
    check_window(function, x, pool, options.channels_last ? 1 : 2);
    return pool;
}

Axes window_axes(const Tensor& windows, size_t count) {
    Axes axes;
    for (size_t d = 0; d < count; ++d)
        axes.push_back(windows.rank() - static_cast<int64_t>(count - d));
    return axes;
}

Axes with_batch_and_channels(const Axes& padding, int64_t sign) {
    Axes result(padding.size() + 2, 0);
    for (size_t d = 0; d < padding.size(); ++d) result[d + 2] = sign * padding[d];
    return result;
}

// (batch, channels, counts…, window…)
Tensor pool_windows(const Tensor& x, const Pool& pool, const Tensor& filler) {
    Tensor padded = x;
    const Axes amount = with_batch_and_channels(pool.padding, 1);
    const bool is_padded = std::any_of(amount.begin(), amount.end(), [](int64_t n) { return n; });
    if (is_padded) padded = ops::pad(x, filler, amount, amount, Axes(amount.size(), 0));
    return ops::windows(padded, pool.window, pool.strides, Axes(pool.window.size(), 1));
}

// What no element is less than.
Tensor least(DType dtype) {
    if (!ir::is_integer(dtype))
        return numpy::scalar(dtype, -std::numeric_limits<double>::infinity());
    if (ir::is_unsigned_integer(dtype)) return numpy::scalar(dtype, 0);
    return numpy::scalar(dtype, -std::ldexp(1.0, 8 * ir::size_of(dtype) - 1));
}

Pool pool_of(const ir::Node& node) {
    const auto& a = node.attributes();
    return {a.get<Axes>("window"), a.get<Axes>("strides"), a.get<Axes>("padding")};
}

Tensor max_windows(const ir::Node& node) {
    const Tensor& x = node.operand(0);
    return pool_windows(x, pool_of(node), least(x.dtype()));
}

// Each window's gradient goes to its first maximum: its position is compared with those in the
// window.
Tensor max_pool_gradient(const ir::Node& node, const Tensor& g) {
    const Tensor& x = node.operand(0);
    const Pool pool = pool_of(node);
    const size_t count = pool.window.size();
    const Tensor windows = max_windows(node);
    // As wide as float32: what is compared and what is chosen fill the same vectors.
    const auto narrowed = [](const Tensor& x) { return ops::astype(x, DType::int32); };
    const Tensor first =
        narrowed(ops::reduce(Combiner::argmax, windows, window_axes(windows, count), true));
    const Tensor positions =
        narrowed(ops::reshape(ops::iota({ir::element_count(pool.window)}, 0), pool.window));
    Shape narrow = g.shape();
    narrow.insert(narrow.end(), count, 1);
    const Tensor is_first = numpy::apply("equal", {first, positions});
    const Tensor zero = numpy::scalar(g.dtype(), 0);
    const Tensor spread = numpy::apply("where", {is_first, ops::reshape(g, narrow), zero});
    Axes lengths;
    for (size_t d = 0; d < count; ++d) lengths.push_back(x.shape()[d + 2] + 2 * pool.padding[d]);
    const Tensor padded = ops::fold(spread, lengths, pool.strides, Axes(count, 1));
    const Axes crop = with_batch_and_channels(pool.padding, -1);
    return ops::pad(padded, zero, crop, crop, Axes(crop.size(), 0));
}

void check_max_pool(const std::vector<Tensor>& x, const ir::Attributes& attributes) {
    ir::check_operand_count("max_pool", x, 1);
    ir::check_lengths("max_pool", x);
    const size_t count = spatial_axes("max_pool", x[0]);
    const auto checked = [&](std::string_view name, int64_t least) -> const Axes& {
        const Axes& values = ir::checked_attribute<Axes>("max_pool", attributes, name);
        ir::check_values("max_pool", name, values, count, least);
        return values;
    };
    const Pool pool{checked("window", 1), checked("strides", 1), checked("padding", 0)};
    check_window("max_pool", x[0], pool, 2);
}

// The leading axis of a batch joins that of the images.
Tensor batched_max_pool(const ir::Node& node, const Tensor& x);

const ir::Operation& max_pool_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "max_pool",
        .doc = "The greatest element of each window; the gradient goes to the first one.",
        .infer =
            [](const std::vector<Tensor>& x, const ir::Attributes& attributes) {
                Shape shape{x[0].shape()[0], x[0].shape()[1]};
                const Axes& window = attributes.get<Axes>("window");
                for (size_t d = 0; d < window.size(); ++d) {
                    const int64_t padded =
                        x[0].shape()[d + 2] + 2 * attributes.get<Axes>("padding")[d];
                    shape.push_back((padded - window[d]) / attributes.get<Axes>("strides")[d] + 1);
                }
                return std::vector<ir::TensorType>{{shape, x[0].dtype()}};
            },
        .vjp =
            [](const ir::Node& node, const std::vector<Tensor>& g, const std::vector<bool>&) {
                return std::vector<Tensor>{max_pool_gradient(node, g[0])};
            },
        .batch = [](const ir::Node& node, const std::vector<Tensor>& x, const std::vector<bool>&,
                    int64_t) { return std::vector<Tensor>{batched_max_pool(node, x[0])}; },
        .decompose =
            [](const ir::Node& node) {
                const Tensor windows = max_windows(node);
                const Axes axes = window_axes(windows, pool_of(node).window.size());
                return std::vector<Tensor>{ops::reduce(Combiner::maximum, windows, axes)};
            },
        .check = check_max_pool,
    });
    return operation;
}

Tensor batched_max_pool(const ir::Node& node, const Tensor& x) {
    Shape joined(x.shape().begin() + 1, x.shape().end());
    joined[0] *= x.shape()[0];
    const Tensor y = ir::make(max_pool_operation(), {ops::reshape(x, joined)}, node.attributes());
    Shape shape = y.shape();
    shape[0] = x.shape()[1];
    shape.insert(shape.begin(), x.shape()[0]);
    return ops::reshape(y, shape);
}

// What ops::convolve would refuse, in the caller's words and order of axes.
void check_convolution(const Tensor& x, const Tensor& filters, const ops::Convolution& c,
                       bool channels_last) {
    const auto shapes = [&] {
        return text("x has shape ", x.shape(), ", filters have shape ", filters.shape());
    };
    const size_t channel_axis = channels_last ? x.shape().size() - 1 : 1;
    user_check(c.groups >= 1, "convolution: groups is ", c.groups, ". At least 1 is required.");
    user_check(x.shape()[channel_axis] == filters.shape()[channel_axis] * c.groups &&
                   filters.shape()[0] % c.groups == 0,
               "convolution: channels do not fit: ", shapes(), ", groups is ", c.groups,
               ". x.shape[", channel_axis, "] must equal filters.shape[", channel_axis,
               "] * groups, and filters.shape[0] be a multiple of groups.");
    for (size_t d = 0; d < c.strides.size(); ++d) {
        const size_t axis = d + (channels_last ? 1 : 2);
        const int64_t padded = x.shape()[axis] + c.padding_low[d] + c.padding_high[d];
        const int64_t length = filters.shape()[axis];
        const int64_t window = length == 0 ? 0 : (length - 1) * c.filter_dilation[d] + 1;
        user_check(window > 0 && window <= padded,
                   "convolution: the window is empty or larger than the padded input along axis ",
                   axis, ": ", window, " > ", padded, " (", shapes(),
                   "). Pad more or use a smaller window.");
    }
}

}  // namespace

void register_images() { max_pool_operation(); }

Tensor convolution(const Tensor& x, const Tensor& filters, const ConvolutionOptions& options) {
    const size_t count = spatial_axes("convolution", x);
    user_check(filters.rank() == x.rank(), "convolution: x has shape ", x.shape(),
               ", filters have shape ", filters.shape(),
               ". Both must have the same number of dimensions.");
    const Axes padding = per_axis("convolution", "padding", options.padding, count, 0, 0);
    ops::Convolution convolution{per_axis("convolution", "strides", options.strides, count, 1, 1),
                                 padding,
                                 padding,
                                 Axes(count, 1),
                                 per_axis("convolution", "dilation", options.dilation, count, 1, 1),
                                 options.groups};
    check_convolution(x, filters, convolution, options.channels_last);
    const auto both = errors_as("convolution", [&] { return numpy::promoted({x, filters}); });
    return channels_back(ops::convolve(channels_first(both[0], options.channels_last),
                                       channels_first(both[1], options.channels_last), convolution),
                         options.channels_last);
}

Tensor max_pool(const Tensor& x, const PoolOptions& options) {
    const Pool pool = pool_of("max_pool", x, options);
    const Tensor first = channels_first(numpy::strong(x), options.channels_last);
    user_check<TypeError>(!ir::is_complex(x.dtype()), "max_pool: x is ", x.dtype(),
                          ". A real dtype is required.");
    return channels_back(
        ir::make(max_pool_operation(), {first},
                 {{"window", pool.window}, {"strides", pool.strides}, {"padding", pool.padding}}),
        options.channels_last);
}

Tensor average_pool(const Tensor& x, const PoolOptions& options) {
    const Pool pool = pool_of("average_pool", x, options);
    const DType dtype = ir::is_inexact(x.dtype()) ? x.dtype() : DType::float64;
    return numpy::one_node("average_pool", {ops::astype(x, dtype)}, [&](const auto& operands) {
        const Tensor windows = pool_windows(channels_first(operands[0], options.channels_last),
                                            pool, numpy::scalar(dtype, 0));
        const Tensor sum =
            ops::reduce(Combiner::sum, windows, window_axes(windows, pool.window.size()));
        const int64_t size = ir::element_count(pool.window);
        return channels_back(numpy::apply("divide", {sum, size}), options.channels_last);
    });
}

}  // namespace composit::nn
