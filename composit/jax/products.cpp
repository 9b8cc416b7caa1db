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

Tensor part_along(const Tensor& x, int64_t axis, int64_t start, int64_t length) {
    Axes starts(x.shape().size(), 0), lengths = x.shape();
    starts[static_cast<size_t>(axis)] = start;
    lengths[static_cast<size_t>(axis)] = length;
    return ops::slice(x, starts, lengths, Axes(lengths.size(), 1));
}

// The specifications say where batch, channels and spatial axes lie: of the image, of the filters
// (out, in), of the result.
Tensor convolved(const Application& a) {
    const Axes& result = a.axes("dimension_numbers.out_spec");
    const Tensor image = ops::transpose(a.x[0], a.axes("dimension_numbers.lhs_spec"));
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
    const int64_t batches = a.integer("batch_group_count");
    Tensor made;
    if (batches == 1) {
        made = ops::convolve(image, filters, options);
    } else {
        // Each group of the batch has filters of its own.
        const int64_t rows = image.shape()[0] / batches, outs = filters.shape()[0] / batches;
        Tensors parts;
        for (int64_t g = 0; g < batches; ++g)
            parts.push_back(ops::convolve(part_along(image, 0, g * rows, rows),
                                          part_along(filters, 0, g * outs, outs), options));
        made = ops::concatenate(parts, 1);
    }
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
