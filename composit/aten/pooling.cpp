// Pooling in PyTorch's terms, by composit::nn's.
#include "composit/aten/pooling.h"

#include "composit/aten/images.h"
#include "composit/nn/pooling.h"
#include "composit/nn/spatial.h"
#include "composit/ops/ops.h"

#include <string_view>

namespace composit::aten {
namespace {

using Lengths = std::vector<int64_t>;

nn::PoolOptions nn_options(std::string_view function, int64_t count, const PoolOptions& o) {
    const auto along = [&](std::string_view option, const Lengths& given, int64_t missing) {
        return nn::per_axis(function, option, given, static_cast<size_t>(count), missing, missing);
    };
    const Lengths kernel = along("kernel_size", o.kernel_size, 1),
                  padding = along("padding", o.padding, 0),
                  dilation = along("dilation", o.dilation, 1);
    for (size_t d = 0; d < kernel.size(); ++d)
        user_check<RuntimeError>(
            padding[d] <= ((kernel[d] - 1) * dilation[d] + 1) / 2,
            "pad should be at most half of effective kernel size, but got pad=", padding[d],
            ", kernel_size=", kernel[d], " and dilation=", dilation[d]);
    return {.kernel_size = o.kernel_size,
            .strides = o.stride.empty() ? o.kernel_size : o.stride,
            .padding = o.padding,
            .dilation = o.dilation,
            .ceil_mode = o.ceil_mode};
}

Lengths lengths_of(const Tensor& x, int64_t count, const OutputSize& size) {
    user_check(x.rank() > count, "adaptive pooling: x has shape ", x.shape(), ". Channels and ",
               count, " spatial axes are required.");
    user_check<RuntimeError>(size.size() == 1 || static_cast<int64_t>(size.size()) == count,
                             "adaptive pooling: output_size has ", size.size(), " lengths. One or ",
                             count, " are required.");
    Lengths made;
    for (int64_t d = 0; d < count; ++d) {
        const auto& given = size[size.size() == 1 ? 0 : static_cast<size_t>(d)];
        made.push_back(given.value_or(x.shape()[static_cast<size_t>(x.rank() - count + d)]));
    }
    return made;
}

std::pair<Tensor, Tensor> both_without_batch(const std::pair<Tensor, Tensor>& made, const Tensor& x,
                                             int64_t count) {
    return {without_batch(made.first, x, count), without_batch(made.second, x, count)};
}

}  // namespace

Tensor max_pool(const Tensor& x, int64_t count, const PoolOptions& o) {
    return without_batch(nn::max_pool(with_batch(x, count), nn_options("max_pool", count, o)), x,
                         count);
}

std::pair<Tensor, Tensor> max_pool_with_indices(const Tensor& x, int64_t count,
                                                const PoolOptions& o) {
    return both_without_batch(
        nn::max_pool_with_indices(with_batch(x, count),
                                  nn_options("max_pool_with_indices", count, o)),
        x, count);
}

Tensor average_pool(const Tensor& x, int64_t count, const PoolOptions& o, bool count_include_pad,
                    std::optional<double> divisor) {
    if (!ir::is_inexact(x.dtype())) {  // quotients of integers end before the point
        const Tensor wide = ops::astype(x, ir::DType::float64);
        return ops::astype(average_pool(wide, count, o, count_include_pad, divisor), x.dtype());
    }
    nn::PoolOptions options = nn_options("average_pool", count, o);
    options.count_include_pad = count_include_pad;
    options.divisor = divisor;
    return without_batch(nn::average_pool(with_batch(x, count), options), x, count);
}

Tensor lp_pool(const Tensor& x, int64_t count, double norm_type, const PoolOptions& o) {
    return without_batch(
        nn::lp_pool(with_batch(x, count), norm_type, nn_options("lp_pool", count, o)), x, count);
}

Tensor max_unpool(const Tensor& x, const Tensor& indices, int64_t count, const PoolOptions& o,
                  const ir::Shape& output_size) {
    const Tensor made = nn::max_unpool(with_batch(x, count), with_batch(indices, count),
                                       nn_options("max_unpool", count, o), output_size);
    return without_batch(made, x, count);
}

Tensor adaptive_average_pool(const Tensor& x, int64_t count, const OutputSize& size) {
    const Lengths lengths = lengths_of(x, count, size);
    return without_batch(nn::adaptive_average_pool(with_batch(x, count), lengths), x, count);
}

std::pair<Tensor, Tensor> adaptive_max_pool(const Tensor& x, int64_t count,
                                            const OutputSize& size) {
    const Lengths lengths = lengths_of(x, count, size);
    return both_without_batch(nn::adaptive_max_pool_with_indices(with_batch(x, count), lengths), x,
                              count);
}

}  // namespace composit::aten
