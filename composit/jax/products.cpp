// Products of matrices, convolutions, Fourier transforms.
#include "composit/base/error.h"
#include "composit/jax/rules.h"
#include "composit/numpy/fft.h"

#include <numeric>

namespace composit::jax {
namespace {

Tensor dot_general(const Application& a) {
    Tensor left = a.x[0], right = a.x[1];
    DType dtype = left.dtype();
    if (a.parameters.has("preferred_element_type")) dtype = a.dtype("preferred_element_type");
    const DType inner = ir::promote(dtype, ir::promote(left.dtype(), right.dtype()));
    const Tensor made = ops::contract(
        ops::astype(left, inner), ops::astype(right, inner),
        {a.axes("batch_a"), a.axes("batch_b"), a.axes("contracted_a"), a.axes("contracted_b")});
    return ops::astype(made, dtype);
}

// Each group of the batch has filters of its own: its channels are a group of the channels.
Tensor with_batches_as_groups(const Tensor& image, int64_t batches) {
    Shape apart = image.shape(), together = image.shape();
    apart[0] /= batches;
    apart.insert(apart.begin(), batches);
    together[0] /= batches;
    together[1] *= batches;
    Axes order(apart.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[0], order[1]);
    return ops::reshape(ops::transpose(ops::reshape(image, apart), order), together);
}

// The specifications say where batch, channels and spatial axes lie: of the image, of the filters
// (out, in), of the result.
Tensor convolved(const Application& a) {
    const Axes& result = a.axes("dimension_numbers.out_spec");
    Tensor image = ops::transpose(a.x[0], a.axes("dimension_numbers.lhs_spec"));
    const Tensor filters = ops::transpose(a.x[1], a.axes("dimension_numbers.rhs_spec"));
    ops::Convolution options;
    options.strides = a.axes("window_strides");
    const Axes& padding = a.axes("padding");
    for (size_t d = 0; d < padding.size(); d += 2) {
        options.padding_low.push_back(padding[d]);
        options.padding_high.push_back(padding[d + 1]);
    }
    options.input_dilation = a.axes("lhs_dilation");
    options.filter_dilation = a.axes("rhs_dilation");
    options.groups = a.integer("feature_group_count");
    if (const int64_t batches = a.integer("batch_group_count"); batches > 1) {
        image = with_batches_as_groups(image, batches);
        options.groups = batches;
    }
    Shape shape{image.shape()[0], filters.shape()[0]};
    for (size_t d = 0; d < options.strides.size(); ++d)
        shape.push_back(window_count(image.shape()[d + 2], options.input_dilation[d],
                                     options.padding_low[d], options.padding_high[d],
                                     filters.shape()[d + 2], options.filter_dilation[d],
                                     options.strides[d]));
    const Tensor made = ir::element_count(shape) == 0 ? ops::full(shape, number(image.dtype(), 0))
                                                      : ops::convolve(image, filters, options);
    Axes back(result.size());
    for (size_t d = 0; d < result.size(); ++d)
        back[static_cast<size_t>(result[d])] = static_cast<int64_t>(d);
    return ops::transpose(made, back);
}

// Along the last axes, as many as there are lengths.
Tensor transformed(const Application& a) {
    const std::string kind = a.text_or("fft_type", "FFT");
    const Axes& lengths = a.axes("fft_lengths");
    Axes axes(lengths.size());
    std::iota(axes.begin(), axes.end(), -static_cast<int64_t>(lengths.size()));
    namespace fft = numpy::fft;
    if (kind == "IFFT") return fft::ifftn(a.x[0], lengths, axes);
    if (kind == "RFFT") return fft::rfftn(a.x[0], lengths, axes);
    if (kind == "IRFFT") return fft::irfftn(a.x[0], lengths, axes);
    return fft::fftn(a.x[0], lengths, axes);
}

}  // namespace

void add_product_primitives(ApplyRules& rules) {
    rules["dot_general"] = [](const Application& a) { return Tensors{dot_general(a)}; };
    rules["fft"] = [](const Application& a) { return Tensors{transformed(a)}; };
    rules["conv_general_dilated"] = [](const Application& a) { return Tensors{convolved(a)}; };
}

}  // namespace composit::jax
