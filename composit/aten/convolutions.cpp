// Convolutions in PyTorch's terms, by composit::nn's.
#include "composit/aten/convolutions.h"

#include "composit/aten/images.h"
#include "composit/aten/rows.h"
#include "composit/nn/operations.h"
#include "composit/nn/spatial.h"
#include "composit/nn/training.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::aten {
namespace {

using Lengths = std::vector<int64_t>;

Tensor biased(const Tensor& result, const Tensor& bias) {
    if (!bias) return result;
    ir::Shape shape(static_cast<size_t>(result.rank()) - 1, 1);
    shape[0] = -1;
    return result + numpy::reshape(bias, shape);
}

}  // namespace

Tensor convolution(const Tensor& x, const Tensor& weight, const Tensor& bias,
                   const ConvolutionOptions& o) {
    const int64_t count = weight.rank() - 2;
    user_check<RuntimeError>(!o.same_padding || std::all_of(o.stride.begin(), o.stride.end(),
                                                            [](int64_t n) { return n == 1; }),
                             "padding='same' is not supported for strided convolutions");
    const Tensor result = nn::convolution(with_batch(x, count), weight,
                                          {.strides = o.stride,
                                           .padding = o.padding,
                                           .dilation = o.dilation,
                                           .groups = o.groups,
                                           .same_padding = o.same_padding});
    return without_batch(biased(result, bias), x, count);
}

Tensor transposed_convolution(const Tensor& given, const Tensor& given_weight, const Tensor& bias,
                              const ConvolutionOptions& o) {
    if (!ir::is_inexact(given.dtype())) {  // sums of products of integers, exact below 2^53
        const auto wide = [](const Tensor& x) {
            return x ? ops::astype(x, ir::DType::float64) : x;
        };
        return ops::astype(transposed_convolution(wide(given), wide(given_weight), wide(bias), o),
                           given.dtype());
    }
    const int64_t count = given_weight.rank() - 2;
    Tensor x = with_batch(given, count);
    // Gradients conjugate the weight.
    const Tensor weight = ir::is_complex(given_weight.dtype())
                              ? numpy::apply("conjugate", {given_weight})
                              : given_weight;
    const auto along = [&](const char* name, const Lengths& values, int64_t missing) {
        return nn::per_axis("transposed_convolution", name, values, static_cast<size_t>(count),
                            missing, 0);
    };
    const Lengths strides = along("stride", o.stride, 1), padding = along("padding", o.padding, 0),
                  more = along("output_padding", o.output_padding, 0),
                  dilation = along("dilation", o.dilation, 1);
    ir::Shape shape{x.shape()[0], weight.shape()[1] * o.groups};
    for (size_t d = 0; d < static_cast<size_t>(count); ++d)
        shape.push_back((x.shape()[d + 2] - 1) * strides[d] - 2 * padding[d] +
                        dilation[d] * (weight.shape()[d + 2] - 1) + more[d] + 1);
    // Of a convolution whose image does not matter.
    const Tensor image = numpy::zeros(shape, x.dtype());
    const Tensor of_image = nn::convolution(
        image, weight,
        {.strides = strides, .padding = padding, .dilation = dilation, .groups = o.groups});
    // Where output_padding is a whole stride the convolution has more elements than x.
    std::vector<std::pair<int64_t, int64_t>> after(x.shape().size(), {0, 0});
    bool is_longer = false;
    for (size_t d = 0; d < after.size(); ++d) {
        if (d != 1) after[d].second = of_image.shape()[d] - x.shape()[d];
        is_longer = is_longer || after[d].second != 0;
    }
    if (is_longer) x = numpy::pad(x, after);
    const Tensor result = nn::chain_rule({{of_image, x}}, {image})[0];
    return without_batch(biased(result, bias), given, count);
}

}  // namespace composit::aten
