// Pooling over windows of fixed size: max_pool, an operation of its own for its gradient, and
// average_pool; lp_pool is made of it.
#include "composit/nn/pooling.h"

#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/nn/checks.h"
#include "composit/nn/spatial.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace composit::nn {
namespace {

using ir::DType;
using ir::Shape;
using ops::Combiner;

// Windows over channels-first images.
struct Pool {
    Axes window, strides, low, high, dilation;

    [[nodiscard]] size_t count() const { return window.size(); }
    [[nodiscard]] int64_t reach(size_t d) const { return (window[d] - 1) * dilation[d] + 1; }
    [[nodiscard]] int64_t results(const Shape& spatial, size_t d) const {
        return (spatial[d] + low[d] + high[d] - reach(d)) / strides[d] + 1;
    }
};

Shape spatial_shape(const Tensor& x, bool channels_last) {
    const auto first = x.shape().begin() + (channels_last ? 1 : 2);
    return {first, first + (x.rank() - 2)};
}

void check_windows(std::string_view function, const Tensor& x, const Shape& spatial,
                   const Pool& pool) {
    for (size_t d = 0; d < pool.count(); ++d)
        user_check(spatial[d] + pool.low[d] + pool.high[d] >= pool.reach(d), function,
                   ": the window is larger than the padded input along spatial axis ", d,
                   ": x has shape ", x.shape(), ", kernel_size is ", pool.window, ", padding is ",
                   pool.low, ".");
}

Pool pool_of(std::string_view function, const Tensor& x, const PoolOptions& options) {
    const size_t count = spatial_axes(function, x);
    user_check(!options.kernel_size.empty(), function, ": kernel_size is empty.");
    Pool pool{per_axis(function, "kernel_size", options.kernel_size, count, 1, 1),
              per_axis(function, "strides", options.strides, count, 1, 1),
              per_axis(function, "padding", options.padding, count, 0, 0),
              {},
              per_axis(function, "dilation", options.dilation, count, 1, 1)};
    pool.high = pool.low;
    const Shape spatial = spatial_shape(x, options.channels_last);
    check_windows(function, x, spatial, pool);
    for (size_t d = 0; options.ceil_mode && d < count; ++d) {
        const int64_t padded = spatial[d] + 2 * pool.low[d];
        int64_t results = (padded - pool.reach(d) + pool.strides[d] - 1) / pool.strides[d] + 1;
        // A window that would begin in the padding behind has nothing to look at.
        if ((results - 1) * pool.strides[d] >= spatial[d] + pool.low[d]) --results;
        const int64_t end = (results - 1) * pool.strides[d] + pool.reach(d);
        pool.high[d] += std::max<int64_t>(0, end - padded);
    }
    return pool;
}

Axes window_axes(const Tensor& windows, size_t count) {
    Axes axes;
    for (size_t d = 0; d < count; ++d)
        axes.push_back(windows.rank() - static_cast<int64_t>(count - d));
    return axes;
}

bool is_any(const Axes& lengths) {
    return std::any_of(lengths.begin(), lengths.end(), [](int64_t n) { return n != 0; });
}

// (batch, channels, counts…, window…)
Tensor pool_windows(const Tensor& x, const Pool& pool, const Tensor& filler) {
    Tensor padded = x;
    if (is_any(pool.low) || is_any(pool.high))
        padded = ops::pad(padded, filler, with_batch_and_channels(pool.low, 1),
                          with_batch_and_channels(pool.high, 1), Axes(pool.count() + 2, 0));
    return ops::windows(padded, pool.window, pool.strides, pool.dilation);
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
    return {a.get<Axes>("window"), a.get<Axes>("strides"), a.get<Axes>("padding"),
            a.get<Axes>("padding_high"), a.get<Axes>("dilation")};
}

ir::Attributes attributes_of(const Pool& pool) {
    return {{"window", pool.window},
            {"strides", pool.strides},
            {"padding", pool.low},
            {"padding_high", pool.high},
            {"dilation", pool.dilation}};
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
    const size_t count = pool.count();
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
    for (size_t d = 0; d < count; ++d)
        lengths.push_back(x.shape()[d + 2] + pool.low[d] + pool.high[d]);
    const Tensor padded = ops::fold(spread, lengths, pool.strides, pool.dilation);
    return ops::pad(padded, zero, with_batch_and_channels(pool.low, -1),
                    with_batch_and_channels(pool.high, -1), Axes(count + 2, 0));
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
    const Pool pool{checked("window", 1), checked("strides", 1), checked("padding", 0),
                    checked("padding_high", 0), checked("dilation", 1)};
    check_windows("max_pool", x[0], spatial_shape(x[0], false), pool);
}

// The leading axis of a batch joins that of the images.
Tensor batched_max_pool(const ir::Node& node, const Tensor& x);

const ir::Operation& max_pool_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "max_pool",
        .doc = "The greatest element of each window; the gradient goes to the first one.",
        .infer =
            [](const std::vector<Tensor>& x, const ir::Attributes& a) {
                const Pool pool{a.get<Axes>("window"), a.get<Axes>("strides"),
                                a.get<Axes>("padding"), a.get<Axes>("padding_high"),
                                a.get<Axes>("dilation")};
                Shape shape{x[0].shape()[0], x[0].shape()[1]};
                for (size_t d = 0; d < pool.count(); ++d)
                    shape.push_back(pool.results(spatial_shape(x[0], false), d));
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
                const Axes axes = window_axes(windows, pool_of(node).count());
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

// How many elements the windows of each place have, as a mean counts them: a number where they are
// equally many everywhere, else an array of the results' spatial shape.
Tensor window_sizes(const Shape& spatial, const Pool& pool, const Axes& padding, bool with_padding,
                    DType dtype) {
    Shape shape;
    std::vector<double> sizes{1};
    for (size_t d = 0; d < pool.count(); ++d) {
        const int64_t begin = with_padding ? -padding[d] : 0;
        const int64_t end = spatial[d] + (with_padding ? padding[d] : 0);
        const int64_t results = pool.results(spatial, d);
        std::vector<double> along;
        for (int64_t i = 0; i < results; ++i) {
            // Places first + k * step, k < window, of which those before `begin` and from `end` on
            // are left out.
            const int64_t first = i * pool.strides[d] - pool.low[d], step = pool.dilation[d];
            const auto before = [&](int64_t bound) {
                return std::clamp<int64_t>((bound - first + step - 1) / step, 0, pool.window[d]);
            };
            along.push_back(static_cast<double>(before(end) - before(begin)));
        }
        std::vector<double> product;
        for (double size : sizes)
            for (double length : along) product.push_back(size * length);
        sizes = std::move(product);
        shape.push_back(results);
    }
    const bool is_same =
        std::all_of(sizes.begin(), sizes.end(), [&](double size) { return size == sizes[0]; });
    if (sizes.empty() || is_same) return numpy::scalar(dtype, sizes.empty() ? 1 : sizes[0]);
    return numpy::astype(numpy::array<double>(sizes, shape), dtype);
}

Tensor checked_real(std::string_view function, const Tensor& x) {
    user_check<TypeError>(!ir::is_complex(x.dtype()), function, ": x is ", x.dtype(),
                          ". A real dtype is required.");
    return numpy::strong(x);
}

}  // namespace

void register_images() { max_pool_operation(); }

Tensor max_pool(const Tensor& x, const PoolOptions& options) {
    const Pool pool = pool_of("max_pool", x, options);
    const Tensor first = channels_first(checked_real("max_pool", x), options.channels_last);
    return channels_back(ir::make(max_pool_operation(), {first}, attributes_of(pool)),
                         options.channels_last);
}

std::pair<Tensor, Tensor> max_pool_with_indices(const Tensor& x, const PoolOptions& options) {
    constexpr std::string_view name = "max_pool_with_indices";
    const Pool pool = pool_of(name, x, options);
    const Tensor first = channels_first(checked_real(name, x), options.channels_last);
    const Shape spatial = spatial_shape(first, false);
    const Tensor positions =
        numpy::one_node("max_pool_indices", {first}, [&](const numpy::Tensors& operands) {
            const Tensor windows = pool_windows(operands[0], pool, least(first.dtype()));
            Tensor rest =
                ops::reduce(Combiner::argmax, windows, window_axes(windows, pool.count()));
            std::vector<Tensor> within(pool.count());
            for (size_t d = pool.count(); d-- > 0;) {
                within[d] = d > 0 ? rest % pool.window[d] : rest;
                rest = numpy::apply("floor_divide", {rest, pool.window[d]});
            }
            Tensor flat;
            for (size_t d = 0; d < pool.count(); ++d) {
                const Tensor begin =
                    ops::iota(within[d].shape(), static_cast<int64_t>(d) + 2) * pool.strides[d] -
                    pool.low[d];
                const Tensor place = begin + within[d] * pool.dilation[d];
                flat = d > 0 ? flat * spatial[d] + place : place;
            }
            return flat;
        });
    return {max_pool(x, options), channels_back(positions, options.channels_last)};
}

Tensor average_pool(const Tensor& x, const PoolOptions& options) {
    const Pool pool = pool_of("average_pool", x, options);
    const DType dtype = ir::is_inexact(x.dtype()) ? x.dtype() : DType::float64;
    return numpy::one_node("average_pool", {ops::astype(x, dtype)}, [&](const auto& operands) {
        const Tensor first = channels_first(operands[0], options.channels_last);
        const Tensor windows = pool_windows(first, pool, numpy::scalar(dtype, 0));
        const Tensor sum = ops::reduce(Combiner::sum, windows, window_axes(windows, pool.count()));
        const Axes padding =
            per_axis("average_pool", "padding", options.padding, pool.count(), 0, 0);
        const Tensor sizes = options.divisor
                                 ? numpy::scalar(dtype, *options.divisor)
                                 : window_sizes(spatial_shape(first, false), pool, padding,
                                                options.count_include_pad, dtype);
        return channels_back(numpy::apply("divide", {sum, sizes}), options.channels_last);
    });
}

Tensor lp_pool(const Tensor& x, double norm_type, const PoolOptions& options) {
    user_check(std::isfinite(norm_type) && norm_type != 0, "lp_pool: norm_type is ", norm_type,
               ". A finite number other than 0 is required.");
    user_check(options.padding.empty() && options.dilation.empty(),
               "lp_pool: padding or dilation is given. Windows without them are required.");
    const Pool pool = pool_of("lp_pool", x, options);
    const DType dtype = ir::is_inexact(x.dtype()) ? x.dtype() : DType::float64;
    double size = 1;
    for (int64_t length : pool.window) size *= static_cast<double>(length);
    return numpy::one_node("lp_pool", {ops::astype(x, dtype)}, [&](const auto& operands) {
        auto number = [&](double value) { return numpy::scalar(dtype, value); };
        const Tensor mean =
            average_pool(numpy::apply("power", {operands[0], number(norm_type)}), options);
        // The root's slope at 0 is infinite: no gradient flows through a 0.
        const Tensor is_zero = numpy::apply("equal", {mean, number(0)});
        const Tensor sum = numpy::apply(
            "multiply", {numpy::apply("where", {is_zero, number(1), mean}), number(size)});
        const Tensor root = numpy::apply("power", {sum, number(1 / norm_type)});
        return numpy::apply("where", {is_zero, number(0), root});
    });
}

}  // namespace composit::nn
