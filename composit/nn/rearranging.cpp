// Shuffles are a reshape, a transpose and a reshape; unfold and fold are windows and their sums.
#include "composit/nn/rearranging.h"

#include "composit/base/error.h"
#include "composit/nn/spatial.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numeric>

namespace composit::nn {
namespace {

using ir::Shape;

// Channels, height and width of an image's last three axes.
struct Pixels {
    int64_t channels, height, width;
};

Pixels pixels_of(std::string_view function, const Tensor& x, int64_t factor, bool channels_last) {
    user_check(x.rank() >= 3, function, ": x has shape ", x.shape(),
               ". At least 3 dimensions are required.");
    user_check(factor >= 1 && factor < (int64_t{1} << 31), function, ": factor is ", factor,
               ". At least 1 is required.");
    const Shape last(x.shape().end() - 3, x.shape().end());
    return channels_last ? Pixels{last[2], last[0], last[1]} : Pixels{last[0], last[1], last[2]};
}

// The last axes of x as `split`, in the order `axes` of these, joined to `joined`.
Tensor rearranged(std::string_view function, const Tensor& x, size_t count, const Shape& split,
                  const Axes& axes, const Shape& joined) {
    const Shape leading(x.shape().begin(), x.shape().end() - static_cast<long>(count));
    const auto with_leading = [&](const Shape& rest) {
        Shape shape = leading;
        shape.insert(shape.end(), rest.begin(), rest.end());
        return shape;
    };
    Axes order(leading.size());
    std::iota(order.begin(), order.end(), 0);
    for (const int64_t axis : axes) order.push_back(axis + static_cast<int64_t>(leading.size()));
    return numpy::one_node(function, {numpy::strong(x)}, [&](const numpy::Tensors& operands) {
        const Tensor apart = ops::reshape(operands[0], with_leading(split));
        return ops::reshape(ops::transpose(apart, order), with_leading(joined));
    });
}

struct Windows {
    Axes window, strides, padding, dilation, counts;

    [[nodiscard]] int64_t size() const { return ir::element_count(window); }
    [[nodiscard]] int64_t count() const { return ir::element_count(counts); }
};

Windows windows_of(std::string_view function, const Shape& spatial, const UnfoldOptions& options) {
    const size_t count = spatial.size();
    user_check(!options.kernel_size.empty(), function, ": kernel_size is empty.");
    Windows made{per_axis(function, "kernel_size", options.kernel_size, count, 1, 1),
                 per_axis(function, "strides", options.strides, count, 1, 1),
                 per_axis(function, "padding", options.padding, count, 0, 0),
                 per_axis(function, "dilation", options.dilation, count, 1, 1),
                 {}};
    for (size_t d = 0; d < count; ++d) {
        const int64_t length = spatial[d] + 2 * made.padding[d];
        const int64_t reach = (made.window[d] - 1) * made.dilation[d] + 1;
        user_check(reach <= length, function,
                   ": the window is larger than the padded image along spatial axis ", d, ": ",
                   reach, " > ", length, " (lengths ", spatial, ", kernel_size ", made.window,
                   ", padding ", made.padding, ", dilation ", made.dilation, ").");
        made.counts.push_back((length - reach) / made.strides[d] + 1);
    }
    return made;
}

}  // namespace

Tensor pixel_shuffle(const Tensor& x, int64_t factor, bool channels_last) {
    const auto [channels, height, width] = pixels_of("pixel_shuffle", x, factor, channels_last);
    user_check(channels % (factor * factor) == 0, "pixel_shuffle: x has shape ", x.shape(), ", ",
               channels, " channels. A multiple of factor² = ", factor * factor, " is required.");
    const int64_t fewer = channels / (factor * factor);
    if (channels_last)
        return rearranged("pixel_shuffle", x, 3, {height, width, fewer, factor, factor},
                          {0, 3, 1, 4, 2}, {height * factor, width * factor, fewer});
    return rearranged("pixel_shuffle", x, 3, {fewer, factor, factor, height, width},
                      {0, 3, 1, 4, 2}, {fewer, height * factor, width * factor});
}

Tensor pixel_unshuffle(const Tensor& x, int64_t factor, bool channels_last) {
    const auto [channels, height, width] = pixels_of("pixel_unshuffle", x, factor, channels_last);
    user_check(height % factor == 0 && width % factor == 0, "pixel_unshuffle: x has shape ",
               x.shape(), ". Height and width that are multiples of factor = ", factor,
               " are required.");
    const int64_t rows = height / factor, columns = width / factor;
    const int64_t more = channels * factor * factor;
    if (channels_last)
        return rearranged("pixel_unshuffle", x, 3, {rows, factor, columns, factor, channels},
                          {0, 2, 4, 1, 3}, {rows, columns, more});
    return rearranged("pixel_unshuffle", x, 3, {channels, rows, factor, columns, factor},
                      {0, 2, 4, 1, 3}, {more, rows, columns});
}

Tensor channel_shuffle(const Tensor& x, int64_t groups, bool channels_last) {
    user_check(x.rank() >= 3, "channel_shuffle: x has shape ", x.shape(),
               ". At least 3 dimensions are required.");
    const int64_t channels = channels_last ? x.shape().back() : x.shape()[1];
    user_check(groups >= 1 && channels % groups == 0, "channel_shuffle: groups is ", groups,
               ", x has shape ", x.shape(), ". A divisor of its ", channels,
               " channels is required.");
    if (channels_last)
        return rearranged("channel_shuffle", x, 1, {groups, channels / groups}, {1, 0}, {channels});
    const Shape spatial(x.shape().begin() + 2, x.shape().end());
    Shape split{groups, channels / groups}, joined{channels};
    split.insert(split.end(), spatial.begin(), spatial.end());
    joined.insert(joined.end(), spatial.begin(), spatial.end());
    Axes axes(split.size());
    std::iota(axes.begin(), axes.end(), 0);
    std::swap(axes[0], axes[1]);
    return rearranged("channel_shuffle", x, joined.size(), split, axes, joined);
}

Tensor unfold(const Tensor& x, const UnfoldOptions& options) {
    const size_t count = spatial_axes("unfold", x);
    const Windows windows =
        windows_of("unfold", Shape(x.shape().begin() + 2, x.shape().end()), options);
    return numpy::one_node("unfold", {numpy::strong(x)}, [&](const numpy::Tensors& operands) {
        const Axes outside = with_batch_and_channels(windows.padding, 1);
        const Tensor padded = ops::pad(operands[0], numpy::scalar(x.dtype(), 0), outside, outside,
                                       Axes(outside.size(), 0));
        const Tensor seen = ops::windows(padded, windows.window, windows.strides, windows.dilation);
        Axes order{0, 1};  // (batch, channels, counts…, window…): the window joins the channels
        for (size_t d = 0; d < count; ++d) order.push_back(static_cast<int64_t>(2 + count + d));
        for (size_t d = 0; d < count; ++d) order.push_back(static_cast<int64_t>(2 + d));
        return ops::reshape(ops::transpose(seen, order),
                            {x.shape()[0], x.shape()[1] * windows.size(), windows.count()});
    });
}

Tensor fold(const Tensor& columns, const std::vector<int64_t>& output_size,
            const UnfoldOptions& options) {
    user_check(columns.rank() == 3, "fold: columns have shape ", columns.shape(),
               ". (batch, channels * window, windows) is required.");
    const size_t count = output_size.size();
    user_check(count >= 1 && count <= 3, "fold: output_size is ", output_size,
               ". 1, 2 or 3 lengths are required.");
    for (const int64_t length : output_size)
        user_check(length >= 1 && length < (int64_t{1} << 40), "fold: output_size is ", output_size,
                   ". Lengths of at least 1 are required.");
    const Windows windows = windows_of("fold", output_size, options);
    const Shape& given = columns.shape();
    user_check(given[1] % windows.size() == 0 && given[2] == windows.count(),
               "fold: columns have shape ", given, ". (batch, a multiple of ", windows.size(), ", ",
               windows.count(), ") is required for images of ", output_size, ".");
    return numpy::one_node("fold", {numpy::strong(columns)}, [&](const numpy::Tensors& operands) {
        const int64_t channels = given[1] / windows.size();
        Shape apart{given[0], channels}, lengths;
        apart.insert(apart.end(), windows.window.begin(), windows.window.end());
        apart.insert(apart.end(), windows.counts.begin(), windows.counts.end());
        Axes order{0, 1};
        for (size_t d = 0; d < count; ++d) order.push_back(static_cast<int64_t>(2 + count + d));
        for (size_t d = 0; d < count; ++d) order.push_back(static_cast<int64_t>(2 + d));
        for (size_t d = 0; d < count; ++d)
            lengths.push_back(output_size[d] + 2 * windows.padding[d]);
        const Tensor seen = ops::transpose(ops::reshape(operands[0], apart), order);
        const Tensor padded = ops::fold(seen, lengths, windows.strides, windows.dilation);
        const Axes outside = with_batch_and_channels(windows.padding, -1);
        return ops::pad(padded, numpy::scalar(columns.dtype(), 0), outside, outside,
                        Axes(outside.size(), 0));
    });
}

}  // namespace composit::nn
