// Max pools of windows at places that are drawn.
#include "composit/aten/images.h"
#include "composit/aten/pooling.h"
#include "composit/aten/rank.h"
#include "composit/aten/rows.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

namespace composit::aten {
namespace {

using ir::DType;
using ir::Shape;

// Where windows start, in each row of samples (…,): (…, count). As PyTorch computes it, in the
// samples' dtype (B. Graham, Fractional Max-Pooling, arXiv 1412.6071): steps of alpha from a drawn
// place, cut to integers, the last window at the end.
Tensor window_starts(const Tensor& sample, int64_t length, int64_t count, int64_t kernel) {
    Shape shape = sample.shape();
    shape.push_back(1);
    const Tensor last = numpy::full(shape, length - kernel, DType::int64);
    if (count == 1) return last;
    const double step = static_cast<double>(length - kernel) / static_cast<double>(count - 1);
    const Tensor alpha = numpy::full({}, step, sample.dtype());
    const Tensor numbers = ops::astype(numpy::arange(count - 1), sample.dtype());
    const Tensor wide = numpy::expand_dims(sample, -1);
    const Tensor places = ops::astype((numbers + wide) * alpha, DType::int64);
    const Tensor first = numpy::expand_dims(ops::astype(sample * alpha, DType::int64), -1);
    return numpy::concatenate({places - first, last}, -1);
}

// Where each element of a window is in the flattened image:
// (batch, channels, windows …, elements of a window …).
Tensor window_places(const Tensor& x, const Shape& kernel, const Shape& size,
                     const Tensor& samples) {
    const size_t count = kernel.size();
    Tensor places = numpy::zeros(Shape(2 + 2 * count, 1), DType::int64);
    for (size_t d = 0; d < count; ++d) {
        // PyTorch draws height before width of volumes, but width before height of images.
        const auto drawn = static_cast<int64_t>(count == 2 ? count - 1 - d : d);
        const Tensor sample = numpy::get_item(samples, {numpy::Ellipsis{}, drawn});
        const int64_t length = x.shape()[d + 2];
        const Tensor inner =
            numpy::expand_dims(window_starts(sample, length, size[d], kernel[d]), -1) +
            numpy::arange(kernel[d]);
        Shape spread(2 + 2 * count, 1);
        spread[0] = inner.shape()[0];
        spread[1] = inner.shape()[1];
        spread[2 + d] = size[d];
        spread[2 + count + d] = kernel[d];
        places = places * length + numpy::reshape(inner, spread);
    }
    Shape whole{x.shape()[0], x.shape()[1]};
    whole.insert(whole.end(), size.begin(), size.end());
    whole.insert(whole.end(), kernel.begin(), kernel.end());
    return numpy::broadcast_to(places, whole);
}

}  // namespace

FractionalWindows fractional_windows(std::string_view function, const Tensor& x, int64_t count,
                                     const Shape& kernel, const std::optional<Shape>& size,
                                     const std::optional<std::vector<double>>& ratios) {
    user_check(size.has_value() != ratios.has_value(), function,
               " requires specifying either an output_size or an output_ratio");
    user_check(x.rank() > count, function, ": a tensor of shape ", x.shape(), ". Channels and ",
               count, " axes are required.");
    Shape windows = kernel;
    if (windows.size() == 1) windows.assign(static_cast<size_t>(count), kernel[0]);
    const Shape& shape = x.shape();
    const int64_t channels = shape[shape.size() - static_cast<size_t>(count) - 1];
    const int64_t batch = x.rank() == count + 2 ? shape[0] : 1;
    Shape made =
        fractional_size(x, windows, size.value_or(Shape{}), ratios.value_or(std::vector<double>{}));
    return {std::move(windows), std::move(made), {batch, channels, count}};
}

Shape fractional_size(const Tensor& x, const Shape& kernel, const Shape& output_size,
                      const std::vector<double>& ratios) {
    const size_t count = kernel.size();
    user_check<RuntimeError>(x.shape().size() > count, "fractional_max_pool: x has shape ",
                             x.shape(), " for windows ", kernel,
                             ". Channels and a spatial axis for each are required.");
    const Shape lengths(x.shape().end() - static_cast<ptrdiff_t>(count), x.shape().end());
    Shape size = output_size;
    if (size.empty())
        for (size_t d = 0; d < count && !ratios.empty(); ++d)
            size.push_back(static_cast<int64_t>(static_cast<double>(lengths[d]) *
                                                ratios[ratios.size() == 1 ? 0 : d]));
    if (size.size() == 1) size.resize(count, size[0]);
    bool fits = size.size() == count;
    for (size_t d = 0; fits && d < count; ++d)
        fits = size[d] >= 1 && size[d] + kernel[d] - 1 <= lengths[d];
    user_check<RuntimeError>(fits, "fractional_max_pool", count, "d: windows of ", kernel, " at ",
                             size, " places do not fit into ", lengths,
                             ". output_size + kernel_size - 1 of at most the length is required.");
    return size;
}

std::pair<Tensor, Tensor> fractional_max_pool(const Tensor& given, const Shape& kernel,
                                              const Shape& size, const Tensor& samples) {
    const auto count = static_cast<int64_t>(kernel.size());
    user_check<RuntimeError>(size.size() == kernel.size(), "fractional_max_pool: the output size ",
                             size, " is given for a kernel of ", count, " dimensions.");
    const Tensor x = with_batch(given, count);
    check_rank("fractional_max_pool", x, count + 2);
    const int64_t batch = x.shape()[0], channels = x.shape()[1];
    const Shape needed{batch, channels, count};
    user_check<RuntimeError>(samples.shape() == needed,
                             "fractional_max_pool: the samples have shape ", samples.shape(), ". ",
                             needed, " is required.");
    for (size_t d = 0; d < kernel.size(); ++d)
        user_check<RuntimeError>(
            kernel[d] > 0 && size[d] > 0 && size[d] + kernel[d] - 1 <= x.shape()[d + 2],
            "fractional_max_pool: kernel size ", kernel[d], " and output size ", size[d],
            " are given for a length of ", x.shape()[d + 2],
            ". Positive ones are required, with output + kernel - 1 <= length.");
    const Shape windows{batch, channels, ir::element_count(size), ir::element_count(kernel)};
    const Tensor places = numpy::reshape(window_places(x, kernel, size, samples), windows);
    const Tensor flat = numpy::reshape(x, {batch, channels, -1});
    const Tensor elements = numpy::reshape(
        numpy::take_along_axis(flat, numpy::reshape(places, {batch, channels, -1}), 2), windows);
    const Tensor best = numpy::argmax(elements, -1, true);
    Shape shape{batch, channels};
    shape.insert(shape.end(), size.begin(), size.end());
    const auto chosen = [&](const Tensor& part) {
        const Tensor made = numpy::reshape(numpy::take_along_axis(part, best, -1), shape);
        return without_batch(made, given, count);
    };
    return {chosen(elements), chosen(places)};
}

}  // namespace composit::aten
