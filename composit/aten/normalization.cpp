// Normalisations in PyTorch's terms.
#include "composit/aten/normalization.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/rank.h"
#include "composit/aten/rows.h"
#include "composit/cg/jacobians.h"
#include "composit/nn/differentiation.h"
#include "composit/nn/layers.h"
#include "composit/nn/normalization.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace composit::aten {
namespace {

using Axes = std::vector<int64_t>;

Axes last_axes(int64_t count) {
    Axes axes;
    for (int64_t d = -count; d < 0; ++d) axes.push_back(d);
    return axes;
}

Axes spatial_axes(const Tensor& x, bool with_batch) {
    Axes axes;
    if (with_batch) axes.push_back(0);
    for (int64_t d = 2; d < x.rank(); ++d) axes.push_back(d);
    return axes;
}

// (channels,) where they meet x's.
Tensor by_channel(const Tensor& x, const Tensor& values) {
    user_check<RuntimeError>(values.rank() == 1 && values.size() == x.shape()[1],
                             "normalisation: x has shape ", x.shape(), ", and a parameter of it ",
                             values.shape(), ". One number for each of ", x.shape()[1],
                             " channels is required.");
    ir::Shape shape(static_cast<size_t>(std::max(x.rank() - 1, 1)), 1);
    shape[0] = -1;
    return numpy::reshape(values, shape);
}

Tensor scaled(const Tensor& x, const RunningNormOptions& o) {
    Tensor result = x;
    if (o.weight) result = result * by_channel(x, o.weight);
    return o.bias ? result + by_channel(x, o.bias) : result;
}

// x in float32 where it has 16 bits and one of the parameters is of float32: PyTorch computes in
// that then, and rounds the result to x's dtype.
Tensor beside(const Tensor& x, const std::vector<Tensor>& parameters) {
    const bool meets = std::any_of(parameters.begin(), parameters.end(), [](const Tensor& given) {
        return given && given.dtype() == DType::float32;
    });
    return meets ? widened(x) : x;
}

std::vector<Tensor> parameters_of(const RunningNormOptions& o) {
    return {o.weight, o.bias, o.running_mean, o.running_var};
}

// The result in x's dtype, if x was widened.
Tensor rounded(const Tensor& made, const Tensor& x, const Tensor& wide) {
    return wide.dtype() == x.dtype() ? made : ops::astype(made, x.dtype());
}

// By statistics that are given.
RunningNorm by_running(const Tensor& x, const RunningNormOptions& o) {
    const Tensor mean = by_channel(x, o.running_mean), variance = by_channel(x, o.running_var);
    return {scaled((x - mean) / rows::sqrt(variance + o.eps), o), {}, {}};
}

// How many elements a statistic is of.
double count_of(const Tensor& x, const Axes& axes) {
    double count = 1;
    for (const int64_t d : axes) count *= static_cast<double>(x.shape()[static_cast<size_t>(d)]);
    return count;
}

Tensor moved(const Tensor& running, const Tensor& now, double momentum) {
    return running * (1 - momentum) + now * momentum;
}

// The deviations from the mean times `slope`, one over their standard deviation, weighted; with
// their own gradient.
Tensor standardised(const Tensor& x, const Tensor& deviation, const Tensor& slope,
                    const RunningNormOptions& o, const Axes& axes) {
    const Tensor normal = deviation * slope, result = scaled(normal, o);
    std::vector<Tensor> inputs{x};
    if (o.weight) inputs.push_back(o.weight);
    if (o.bias) inputs.push_back(o.bias);
    if (std::any_of(inputs.begin(), inputs.end(),
                    [&](const Tensor& input) { return input.dtype() != result.dtype(); }))
        return result;
    const Tensor given = ir::input("gradient", result.dtype(), result.shape());
    const Tensor total = numpy::sum(given, axes), along = numpy::sum(given * normal, axes);
    const int64_t count = x.size() / std::max<int64_t>(x.shape()[1], 1);
    const Tensor rest =
        given - by_channel(x, total / count) - normal * by_channel(x, along / count);
    std::vector<Tensor> gradients{rest * (o.weight ? slope * by_channel(x, o.weight) : slope)};
    if (o.weight) gradients.push_back(along);
    if (o.bias) gradients.push_back(total);
    return cg::with_pullback("batch_norm", inputs, {result}, {given}, gradients)[0];
}

}  // namespace

Tensor layer_norm(const Tensor& x, int64_t count, const Tensor& weight, const Tensor& bias,
                  double eps) {
    const Tensor wide = beside(x, {weight, bias});
    return rounded(nn::layer_norm(wide, weight, bias, last_axes(count), eps), x, wide);
}

Tensor rms_norm(const Tensor& given, int64_t count, const Tensor& weight,
                std::optional<double> eps) {
    const double least = eps.value_or(epsilon_of(widened(given).dtype()));
    const Tensor x = widened(given);
    const auto normalised = [&] {  // the square of a complex number, not of its size
        const Tensor mean = numpy::mean(x * x, last_axes(count), {}, true);
        const Tensor normal = x * rows::reciprocal(rows::sqrt(mean + least));
        return weight ? normal * weight : normal;
    };
    const Tensor made = ir::is_complex(x.dtype())
                            ? normalised()
                            : nn::rms_norm(x, widened(weight), last_axes(count), least);
    return made.dtype() == given.dtype() ? made : ops::astype(made, given.dtype());
}

Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight, const Tensor& bias,
                  double eps) {
    check_rank("group_norm", x, 2);
    const int64_t channels = x.shape()[1];
    user_check<RuntimeError>(groups > 0 && channels % groups == 0,
                             "Expected number of channels in input to be divisible by num_groups, "
                             "but got input of shape ",
                             x.shape(), " and num_groups=", groups, ".");
    const Tensor wide = beside(x, {weight, bias});
    const Tensor made =
        nn::group_norm(wide, weight ? weight : numpy::ones({channels}, wide.dtype()),
                       bias ? bias : numpy::zeros({channels}, wide.dtype()), 1, groups, eps);
    return rounded(made, x, wide);
}

namespace {

RunningNorm in_training_by_batch(const Tensor& x, const RunningNormOptions& o) {
    const Axes axes = spatial_axes(x, true);
    const Tensor mean = numpy::mean(x, axes), deviation = x - by_channel(x, mean);
    const Tensor variance = numpy::mean(numpy::apply("square", {deviation}), axes);
    const Tensor slope = by_channel(x, rows::reciprocal(rows::sqrt(variance + o.eps)));
    const Tensor result = standardised(x, deviation, slope, o, axes);
    if (!o.running_mean) return {result, {}, {}};
    const double count = count_of(x, axes);
    const Tensor still = nn::stop_gradient(variance);
    return {result, moved(o.running_mean, nn::stop_gradient(mean), o.momentum),
            moved(o.running_var, count > 1 ? still * (count / (count - 1)) : still, o.momentum)};
}

RunningNorm in_training_by_instance(const Tensor& x, const RunningNormOptions& o) {
    const Tensor result = nn::instance_norm(x, o.weight, o.bias, 1, o.eps);
    if (!o.running_mean) return {result, {}, {}};
    const Axes axes = spatial_axes(x, false), all = spatial_axes(x, true);
    const Tensor mean = numpy::mean(x, axes, {}, true);
    const Tensor variance = numpy::mean(numpy::apply("square", {x - mean}), axes, {}, true);
    const double count = count_of(x, axes);
    const Tensor new_mean = numpy::mean(nn::stop_gradient(mean), all);
    const Tensor new_var =
        numpy::mean(nn::stop_gradient(variance), all) * (count / std::max(count - 1, 1.0));
    return {result, moved(o.running_mean, new_mean, o.momentum),
            moved(o.running_var, new_var, o.momentum)};
}

// In float32 where parameters are, and the result in x's dtype.
RunningNorm normalized(const Tensor& x, const RunningNormOptions& o,
                       RunningNorm in_training(const Tensor&, const RunningNormOptions&)) {
    user_check<RuntimeError>(
        static_cast<bool>(o.running_mean) == static_cast<bool>(o.running_var) &&
            (o.is_training || o.running_mean),
        "normalisation: expected running_mean and running_var to be defined "
        "when training=False, and both or none of them in training.");
    const Tensor wide = beside(x, parameters_of(o));
    RunningNorm made = o.is_training ? in_training(wide, o) : by_running(wide, o);
    made.result = rounded(made.result, x, wide);
    return made;
}

}  // namespace

Tensor local_response_norm(const Tensor& given, int64_t size, double alpha, double beta, double k) {
    user_check(size > 0 && given.rank() >= 2, "local_response_norm: size is ", size,
               " for a tensor of shape ", given.shape(),
               ". At least 1, and channels in axis 1, are required.");
    const Tensor x = floating(given);
    std::vector<std::pair<int64_t, int64_t>> widths(x.shape().size(), {0, 0});
    widths.back() = {size / 2, (size - 1) / 2};
    const Tensor square = numpy::pad(numpy::moveaxis(x * x, 1, -1), widths);
    // Neighbours are added one by one: differences of running sums would lose the small ones.
    const int64_t count = x.shape()[1];
    const auto part = [&](int64_t start) {
        return numpy::get_item(square, {numpy::Ellipsis{}, numpy::Slice{start, start + count}});
    };
    Tensor total = part(0);
    for (int64_t i = 1; i < size; ++i) total = total + part(i);
    return x / rows::power(numpy::moveaxis(total / size, -1, 1) * alpha + k, beta);
}

Tensor cross_map_lrn(const Tensor& given, int64_t size, double alpha, double beta, double k) {
    user_check<PyTorchValueError>(given.rank() == 4, "CrossMapLRN2d: Expected input to be 4D, got ",
                                  given.rank(), "D instead.");
    user_check<PyTorchValueError>(size > 0, "CrossMapLRN2d: size is ", size,
                                  ". At least 1 is required.");
    const Tensor x = floating(given), numbers = numpy::arange(given.shape()[1]);
    const Tensor distance = rows::abs(numpy::reshape(numbers, {-1, 1}) - numbers);
    // PyTorch takes channels that are left behind from the sum from the second on.
    const Tensor is_near = (distance <= (size - 1) / 2) | rows::equal(numbers, 0);
    const Tensor total = numpy::tensordot(ops::astype(is_near, x.dtype()), x * x, Axes{1}, Axes{1});
    return x / rows::power(numpy::moveaxis(total, 0, 1) * (alpha / static_cast<double>(size)) + k,
                           beta);
}

RunningNorm batch_norm(const Tensor& x, const RunningNormOptions& o) {
    check_rank("batch_norm", x, 2);
    return normalized(x, o, in_training_by_batch);
}

RunningNorm instance_norm(const Tensor& x, const RunningNormOptions& o) {
    check_rank("instance_norm", x, 2);
    return normalized(x, o, in_training_by_instance);
}

}  // namespace composit::aten
