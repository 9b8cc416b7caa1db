// Convolutions, forwards and transposed; windows put back together.
#include "composit/onnx/convolutions.h"

#include "composit/nn/operations.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/images.h"
#include "composit/onnx/operators.h"
#include "composit/onnx/quantized.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::onnx {

Tensor convolution_of(const Call& call, const Tensor& x, const Tensor& filters,
                      const Tensor& outside) {
    const Shape& shape = filters.shape();
    call.check(x.rank() >= 3 && filters.rank() == x.rank(), "filters of shape ", shape,
               " over an image of shape ", x.shape(), ". As many axes, at least 3, are required.");
    const int64_t groups = call.integer("group", 1);
    const Windows windows = windows_of(call, x.shape(), {shape.begin() + 2, shape.end()});
    call.check(groups > 0 && x.shape()[1] == shape[1] * groups && shape[0] % groups == 0,
               "filters of shape ", shape, " in ", groups, " groups over an image of shape ",
               x.shape(), ". Channels that fit are required.");
    const std::vector<int64_t> ones(windows.axes(), 1), none(windows.axes(), 0);
    if (!outside)
        return ops::convolve(
            x, filters,
            {windows.strides, windows.low, windows.high, ones, windows.dilations, groups});
    const auto of_all_axes = [](std::vector<int64_t> of_windows) {
        of_windows.insert(of_windows.begin(), 2, 0);  // batch and channels
        return of_windows;
    };
    const Tensor padded = ops::pad(x, outside, of_all_axes(windows.low), of_all_axes(windows.high),
                                   of_all_axes(none));
    return ops::convolve(ops::astype(padded, filters.dtype()), filters,
                         {windows.strides, none, none, ones, windows.dilations, groups});
}

Tensor with_channel_bias(const Tensor& x, const Tensor& bias) {
    if (!bias) return x;
    Shape shape(static_cast<size_t>(x.rank()), 1);
    shape[1] = bias.size();
    return x + numpy::reshape(bias, shape);
}

namespace convolutions {
namespace {

Values conv(Call& call) {
    const std::optional<Tensor> of_numbers = convolution_of_quantized(call);
    return {with_channel_bias(
        of_numbers ? *of_numbers : convolution_of(call, call.tensor(0), call.tensor(1)),
        call.tensor_if_given(2))};
}

// The padding of a transposed convolution, by which its result has a given length, or fits.
struct TransposedPadding {
    std::vector<int64_t> low, high;
};
TransposedPadding transposed_padding(const Call& call, const Shape& x, const Windows& windows,
                                     const std::vector<int64_t>& added) {
    const size_t axes = windows.axes();
    TransposedPadding padding{windows.low, windows.high};
    const std::string automatic = call.text("auto_pad", "NOTSET");
    std::vector<int64_t> lengths = call.integers("output_shape");
    if (lengths.size() == x.size()) lengths.erase(lengths.begin(), lengths.begin() + 2);
    const bool is_same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
    if (lengths.empty() && !is_same) return padding;
    for (size_t i = 0; i < axes; ++i) {
        const int64_t wanted = lengths.empty() ? x[i + 2] * windows.strides[i] : lengths.at(i);
        const int64_t total =
            (x[i + 2] - 1) * windows.strides[i] + added[i] + windows.extent(i) - wanted;
        // Rounded down, also where it is negative: what is missing comes behind.
        const int64_t less = total >= 0 ? total / 2 : (total - 1) / 2;
        padding.low[i] = automatic == "SAME_UPPER" ? less : total - less;
        padding.high[i] = total - padding.low[i];
    }
    return padding;
}

// A convolution of x, spread by the strides, with the filters turned around.
Values conv_transpose(Call& call) {
    const Tensor &x = call.tensor(0), &filters = call.tensor(1);
    const Shape& shape = filters.shape();
    const int64_t groups = call.integer("group", 1);
    call.check(x.rank() >= 3 && filters.rank() == x.rank() && groups > 0 &&
                   x.shape()[1] == shape[0] && shape[0] % groups == 0,
               "filters of shape ", shape, " in ", groups, " groups over an image of shape ",
               x.shape(), ". As many axes, and channels that fit, are required.");
    // Windows lie in the result: the checks of windows in x do not concern them.
    Windows windows;
    const size_t axes = shape.size() - 2;
    const auto given = [&](std::string_view name, int64_t missing) {
        std::vector<int64_t> values = call.integers(name);
        if (values.empty()) values.assign(axes, missing);
        call.check(values.size() == axes, "attribute '", name, "' is ", values, ". ", axes,
                   " numbers are required.");
        return values;
    };
    windows.kernel.assign(shape.begin() + 2, shape.end());
    windows.strides = given("strides", 1);
    windows.dilations = given("dilations", 1);
    std::vector<int64_t> pads = call.integers("pads");
    if (pads.empty()) pads.assign(2 * axes, 0);
    call.check(pads.size() == 2 * axes, "attribute 'pads' is ", pads, ". ", 2 * axes,
               " numbers are required.");
    windows.low.assign(pads.begin(), pads.begin() + static_cast<int64_t>(axes));
    windows.high.assign(pads.begin() + static_cast<int64_t>(axes), pads.end());
    const std::vector<int64_t> added = given("output_padding", 0);
    const TransposedPadding padding = transposed_padding(call, x.shape(), windows, added);
    ops::Convolution options;
    options.strides.assign(axes, 1);
    options.input_dilation = windows.strides;
    options.filter_dilation = windows.dilations;
    options.groups = groups;
    for (size_t i = 0; i < axes; ++i) {
        options.padding_low.push_back(windows.extent(i) - 1 - padding.low[i]);
        options.padding_high.push_back(windows.extent(i) - 1 - padding.high[i] + added[i]);
    }
    // (in, out / groups, …) as (out, in / groups, …), backwards.
    Shape in_groups{groups, shape[0] / groups, shape[1]};
    in_groups.insert(in_groups.end(), shape.begin() + 2, shape.end());
    Tensor turned = numpy::swapaxes(numpy::reshape(filters, in_groups), 1, 2);
    Shape whole{groups * shape[1], shape[0] / groups};
    whole.insert(whole.end(), shape.begin() + 2, shape.end());
    turned = numpy::reshape(turned, whole);
    std::vector<int64_t> spatial;
    for (size_t i = 0; i < axes; ++i) spatial.push_back(static_cast<int64_t>(i + 2));
    turned = numpy::flip(turned, spatial);
    return {with_channel_bias(ops::convolve(x, turned, options), call.tensor_if_given(2))};
}

// Blocks, as columns, added up where they lie in an image.
Values col2im(Call& call) {
    const Tensor& x = call.tensor(0);
    const std::vector<int64_t> image = call.known_integers(1), block = call.known_integers(2);
    const size_t axes = image.size();
    call.check(x.rank() == 3 && block.size() == axes, "columns of shape ", x.shape(),
               " for blocks of ", block, " in an image of ", image,
               ". (batch, channels * block, count) is required.");
    const auto given = [&](std::string_view name, size_t count, int64_t missing) {
        std::vector<int64_t> values = call.integers(name);
        if (values.empty()) values.assign(count, missing);
        call.check(values.size() == count, "attribute '", name, "' is ", values, ". ", count,
                   " numbers are required.");
        return values;
    };
    const auto strides = given("strides", axes, 1), dilations = given("dilations", axes, 1);
    const auto pads = given("pads", 2 * axes, 0);
    int64_t block_size = 1;
    for (const int64_t length : block) block_size *= length;
    call.check(block_size > 0 && x.shape()[1] % block_size == 0, "columns of shape ", x.shape(),
               " for blocks of ", block, ". Channels times the block's size are required.");
    Shape parts{x.shape()[0], x.shape()[1] / block_size};
    Shape whole;
    parts.insert(parts.end(), block.begin(), block.end());
    for (size_t i = 0; i < axes; ++i) {
        whole.push_back(image[i] + pads[i] + pads[i + axes]);
        parts.push_back((whole[i] - (block[i] - 1) * dilations[i] - 1) / strides[i] + 1);
    }
    std::vector<int64_t> order{0, 1};
    for (size_t i = 0; i < axes; ++i) order.push_back(static_cast<int64_t>(2 + axes + i));
    for (size_t i = 0; i < axes; ++i) order.push_back(static_cast<int64_t>(2 + i));
    const Tensor blocks = numpy::transpose(numpy::reshape(x, parts), order);
    const Tensor folded = ops::fold(blocks, whole, strides, dilations);
    numpy::Index inside{numpy::Slice{}, numpy::Slice{}};
    for (size_t i = 0; i < axes; ++i)
        inside.emplace_back(numpy::Slice{pads[i], pads[i] + image[i]});
    return {numpy::get_item(folded, inside)};
}

// A depthwise convolution of what was before and x, with what is to be before the next x.
Values causal_convolution(Call& call) {
    const Tensor &x = call.tensor(0), &filters = call.tensor(1);
    call.check(x.rank() == 3 && filters.rank() == 3 && filters.shape()[1] == 1,
               "an input of shape ", x.shape(), " and filters of shape ", filters.shape(),
               ". (batch, channels, length) and (channels, 1, window) are required.");
    const int64_t before = filters.shape()[2] - 1, channels = x.shape()[1];
    const Tensor past =
        call.has(3) ? call.tensor(3) : numpy::zeros({x.shape()[0], channels, before}, x.dtype());
    const Tensor all = numpy::concatenate({past, x}, 2);
    Tensor result = ops::convolve(all, filters, {{1}, {0}, {0}, {1}, {1}, channels});
    result = with_channel_bias(result, call.tensor_if_given(2));
    const std::string activation = call.text("activation", "none");
    call.check(activation == "none" || activation == "silu" || activation == "swish",
               "activation is '", activation, "'. silu, swish or none is required.");
    if (activation != "none") result = nn::silu(result);
    const int64_t length = all.shape()[2];
    const Tensor kept = numpy::get_item(
        all, {numpy::Slice{}, numpy::Slice{}, numpy::Slice{length - before, length}});
    return {result, kept};
}

}  // namespace
}  // namespace convolutions

void add_convolutions(Registry& registry) {
    using namespace convolutions;
    registry.add("CausalConvWithState", causal_convolution);
    registry.add("Col2Im", col2im);
    registry.add("Conv", conv);
    registry.add("ConvTranspose", conv_transpose);
}

}  // namespace composit::onnx
