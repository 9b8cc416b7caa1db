// Convolution and its transpose.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/nn/checks.h"
#include "composit/nn/operations.h"
#include "composit/nn/padding.h"
#include "composit/nn/spatial.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::nn {
namespace {

std::string shapes_of(const Tensor& x, const Tensor& filters) {
    return text("x has shape ", x.shape(), ", filters have shape ", filters.shape());
}

// What ops::convolve would refuse, in the caller's words and order of axes.
void check_convolution(const Tensor& x, const Tensor& filters, const ops::Convolution& c,
                       bool channels_last) {
    const size_t channel_axis = channels_last ? x.shape().size() - 1 : 1;
    user_check(c.groups >= 1, "convolution: groups is ", c.groups, ". At least 1 is required.");
    user_check(x.shape()[channel_axis] == filters.shape()[channel_axis] * c.groups &&
                   filters.shape()[0] % c.groups == 0,
               "convolution: channels do not fit: ", shapes_of(x, filters), ", groups is ",
               c.groups, ". x.shape[", channel_axis, "] must equal filters.shape[", channel_axis,
               "] * groups, and filters.shape[0] be a multiple of groups.");
    for (size_t d = 0; d < c.strides.size(); ++d) {
        const size_t axis = d + (channels_last ? 1 : 2);
        const int64_t padded = x.shape()[axis] + c.padding_low[d] + c.padding_high[d];
        const int64_t length = filters.shape()[axis];
        const int64_t window = length == 0 ? 0 : (length - 1) * c.filter_dilation[d] + 1;
        user_check(window > 0 && window <= padded,
                   "convolution: the window is empty or larger than the padded input along axis ",
                   axis, ": ", window, " > ", padded, " (", shapes_of(x, filters),
                   "). Pad more or use a smaller window.");
    }
}

size_t checked_axes(std::string_view function, const Tensor& x, const Tensor& filters) {
    const size_t count = spatial_axes(function, x);
    user_check(filters.rank() == x.rank(), function, ": ", shapes_of(x, filters),
               ". Both must have the same number of dimensions.");
    return count;
}

void check_bias(std::string_view function, const Tensor& bias, int64_t channels) {
    if (!bias) return;
    user_check(bias.rank() == 1 && bias.size() == channels, function, ": bias has shape ",
               bias.shape(), ". (", channels, ",), one number for each channel, is required.");
}

// x, filters and bias (which may be empty) of one dtype.
std::vector<Tensor> promoted(std::string_view function, const Tensor& x, const Tensor& filters,
                             const Tensor& bias) {
    std::vector<Tensor> given{x, filters};
    if (bias) given.push_back(bias);
    return errors_as(function, [&] { return numpy::promoted(given); });
}

Tensor with_bias(const Tensor& y, const std::vector<Tensor>& promoted, bool channels_last) {
    if (promoted.size() < 3) return y;
    const Tensor& bias = promoted[2];
    if (channels_last) return y + bias;
    ir::Shape shape(y.shape().size() - 1, 1);
    shape[0] = bias.size();
    return y + numpy::reshape(bias, shape);
}

// Padding in a mode that is not zeros, in memory; `c` then needs none.
Tensor padded_by_mode(const Tensor& x, ops::Convolution& c, std::string_view mode) {
    std::vector<int64_t> lengths;
    for (size_t d = c.strides.size(); d-- > 0;) {
        lengths.push_back(c.padding_low[d]);
        lengths.push_back(c.padding_high[d]);
        c.padding_low[d] = c.padding_high[d] = 0;
    }
    return errors_as("convolution", [&] { return pad(x, lengths, mode); });
}

// The whole of a dilated window less one is padded; what is odd comes behind.
void pad_to_same(ops::Convolution& c, const Tensor& filters, bool channels_last) {
    for (size_t d = 0; d < c.strides.size(); ++d) {
        user_check(c.strides[d] == 1, "convolution: strides are ", c.strides,
                   ". Padding 'same' requires strides of 1.");
        const int64_t length = filters.shape()[d + (channels_last ? 1 : 2)];
        const int64_t total = std::max<int64_t>(length - 1, 0) * c.filter_dilation[d];
        c.padding_low[d] = total / 2;
        c.padding_high[d] = total - total / 2;
    }
}

// Filters (in, out / groups, window…) of the transposed convolution as those, (out, in / groups,
// window…), of the convolution that computes it: window reversed, channels swapped in each group.
Tensor turned_filters(const Tensor& filters, int64_t groups) {
    const int64_t ins = filters.shape()[0] / groups, outs = filters.shape()[1];
    ir::Shape window(filters.shape().begin() + 2, filters.shape().end());
    std::vector<int64_t> spatial;
    for (int64_t d = 2; d < filters.rank(); ++d) spatial.push_back(d);
    const Tensor reversed = numpy::flip(filters, spatial);
    ir::Shape apart{groups, ins, outs}, together{groups * outs, ins};
    apart.insert(apart.end(), window.begin(), window.end());
    together.insert(together.end(), window.begin(), window.end());
    return numpy::reshape(numpy::swapaxes(numpy::reshape(reversed, apart), 1, 2), together);
}

}  // namespace

Tensor convolution(const Tensor& x, const Tensor& filters, const ConvolutionOptions& options) {
    const size_t count = checked_axes("convolution", x, filters);
    const bool is_last = options.channels_last;
    const Axes padding = per_axis("convolution", "padding", options.padding, count, 0, 0);
    ops::Convolution convolution{per_axis("convolution", "strides", options.strides, count, 1, 1),
                                 padding,
                                 padding,
                                 Axes(count, 1),
                                 per_axis("convolution", "dilation", options.dilation, count, 1, 1),
                                 options.groups};
    if (options.same_padding) pad_to_same(convolution, filters, is_last);
    check_convolution(x, filters, convolution, is_last);
    check_bias("convolution", options.bias, filters.shape()[0]);
    const auto operands = promoted("convolution", x, filters, options.bias);
    Tensor first = channels_first(operands[0], is_last);
    if (options.padding_mode != "zeros")
        first = padded_by_mode(first, convolution, options.padding_mode);
    const Tensor y = ops::convolve(first, channels_first(operands[1], is_last), convolution);
    return with_bias(channels_back(y, is_last), operands, is_last);
}

Tensor transposed_convolution(const Tensor& x, const Tensor& filters,
                              const TransposedConvolutionOptions& options) {
    constexpr std::string_view name = "transposed_convolution";
    const size_t count = checked_axes(name, x, filters);
    const bool is_last = options.channels_last;
    const size_t channel_axis = is_last ? count + 1 : 1;
    const int64_t groups = options.groups;
    user_check(groups >= 1, name, ": groups is ", groups, ". At least 1 is required.");
    user_check(x.shape()[channel_axis] == filters.shape()[0] && filters.shape()[0] % groups == 0,
               name, ": channels do not fit: ", shapes_of(x, filters), ", groups is ", groups,
               ". x.shape[", channel_axis,
               "] must equal filters.shape[0], and be a multiple of groups.");
    const Axes strides = per_axis(name, "strides", options.strides, count, 1, 1);
    const Axes padding = per_axis(name, "padding", options.padding, count, 0, 0);
    const Axes more = per_axis(name, "output_padding", options.output_padding, count, 0, 0);
    const Axes dilation = per_axis(name, "dilation", options.dilation, count, 1, 1);
    ops::Convolution c{Axes(count, 1), {}, {}, strides, dilation, groups};
    for (size_t d = 0; d < count; ++d) {
        const size_t axis = d + (is_last ? 1 : 2);
        const int64_t length = x.shape()[axis], window = filters.shape()[axis];
        user_check(more[d] < std::max(strides[d], dilation[d]), name, ": output_padding is ", more,
                   ", strides are ", strides, ", dilation is ", dilation,
                   ". Less than the stride or the dilation is required.");
        const int64_t reach = (window - 1) * dilation[d];
        const int64_t result = (length - 1) * strides[d] - 2 * padding[d] + reach + more[d] + 1;
        user_check(length > 0 && window > 0 && result > 0, name, ": axis ", axis,
                   " of the result would have ", result, " elements: ", shapes_of(x, filters),
                   ", padding is ", padding, ". At least 1 is required.");
        c.padding_low.push_back(reach - padding[d]);
        c.padding_high.push_back(reach - padding[d] + more[d]);
    }
    const int64_t outs = filters.shape()[channel_axis] * groups;
    check_bias(name, options.bias, outs);
    const auto operands = promoted(name, x, filters, options.bias);
    const Tensor turned = turned_filters(channels_first(operands[1], is_last), groups);
    const Tensor y = ops::convolve(channels_first(operands[0], is_last), turned, c);
    return with_bias(channels_back(y, is_last), operands, is_last);
}

}  // namespace composit::nn
