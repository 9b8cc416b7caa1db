// Normalisations composed of operations.
#include "composit/nn/normalization.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/dtype_traits.h"
#include "composit/nn/checks.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

#include <cmath>

namespace composit::nn {
namespace {

using ir::DType;
using numpy::apply;

Tensor inverse_root(const Tensor& x) { return apply("reciprocal", {apply("sqrt", {x})}); }

// (channels,) where they meet x's channels.
Tensor along_channels(std::string_view function, std::string_view name, const Tensor& parameter,
                      const Tensor& x, int64_t axis) {
    const int64_t channels = x.shape()[static_cast<size_t>(axis)];
    user_check(parameter.rank() == 1 && parameter.size() == channels, function, ": ", name,
               " has shape ", parameter.shape(), ", x has shape ", x.shape(), ". (", channels,
               ",), one number for each channel, is required.");
    ir::Shape shape(x.shape().size(), 1);
    shape[static_cast<size_t>(axis)] = channels;
    return numpy::reshape(parameter, shape);
}

Tensor scaled(std::string_view function, const Tensor& normal, const Tensor& weight,
              const Tensor& bias, int64_t axis) {
    Tensor result = normal;
    if (weight) result = result * along_channels(function, "weight", weight, normal, axis);
    if (bias) result = result + along_channels(function, "bias", bias, normal, axis);
    return result;
}

std::vector<int64_t> other_axes(const Tensor& x, int64_t first, int64_t left_out) {
    std::vector<int64_t> axes;
    for (int64_t d = first; d < x.rank(); ++d)
        if (d != left_out) axes.push_back(d);
    return axes;
}

}  // namespace

Tensor rms_norm(const Tensor& x, const Tensor& weight, const Axis& axis,
                std::optional<double> epsilon) {
    const Tensor given = floating("rms_norm", x);
    const auto axes = axis.of("rms_norm", x.rank());
    return errors_as("rms_norm", [&] {
        const Tensor mean = numpy::mean(given * given, axes, {}, true);
        const double least = epsilon.value_or(ir::float_format(given.dtype()).epsilon());
        const Tensor normal = given * inverse_root(mean + least);
        return weight ? normal * weight : normal;
    });
}

Tensor instance_norm(const Tensor& x, const Tensor& weight, const Tensor& bias,
                     int64_t channel_axis, double epsilon) {
    constexpr std::string_view name = "instance_norm";
    user_check(x.rank() >= 3, name, ": x has shape ", x.shape(),
               ". (batch, …) with a channel axis and spatial ones is required.");
    const int64_t axis = numpy::normalize_axis(name, channel_axis, x.rank());
    user_check(axis > 0, name, ": channel_axis is the batch's axis, 0.");
    const Tensor given = floating(name, x);
    return errors_as(name, [&] {
        const auto axes = other_axes(x, 1, axis);
        const Tensor deviation = given - numpy::mean(given, axes, {}, true);
        const Tensor variance = numpy::mean(deviation * deviation, axes, {}, true);
        return scaled(name, deviation * inverse_root(variance + epsilon), weight, bias, axis);
    });
}

BatchNorm batch_norm_training(const Tensor& x, const Tensor& running_mean,
                              const Tensor& running_variance, const Tensor& weight,
                              const Tensor& bias, int64_t channel_axis, double momentum,
                              double epsilon) {
    constexpr std::string_view name = "batch_norm_training";
    user_check(x.rank() >= 2, name, ": x has shape ", x.shape(),
               ". (batch, …) with a channel axis is required.");
    const int64_t axis = numpy::normalize_axis(name, channel_axis, x.rank());
    const int64_t channels = x.shape()[static_cast<size_t>(axis)];
    const int64_t count = channels == 0 ? 0 : x.size() / channels;
    user_check(count > 1, name, ": x has shape ", x.shape(), " and ", count,
               " elements for each channel of axis ", axis, ". At least 2 are required.");
    const Tensor given = floating(name, x);
    return errors_as(name, [&] {
        const auto axes = other_axes(x, 0, axis);
        const Tensor mean = numpy::mean(given, axes, {}, true);
        const Tensor deviation = given - mean;
        const Tensor variance = numpy::mean(deviation * deviation, axes, {}, true);
        const Tensor result =
            scaled(name, deviation * inverse_root(variance + epsilon), weight, bias, axis);
        const auto moved = [&](std::string_view argument, const Tensor& running,
                               const Tensor& now) {
            (void)along_channels(name, argument, running, given, axis);
            return running * (1 - momentum) + stop_gradient(now) * momentum;
        };
        const auto flat = [&](const Tensor& t) { return numpy::reshape(t, {channels}); };
        const double unbiased = static_cast<double>(count) / static_cast<double>(count - 1);
        return BatchNorm{result, moved("running_mean", running_mean, flat(mean)),
                         moved("running_variance", running_variance, flat(variance) * unbiased)};
    });
}

Tensor normalize(const Tensor& x, double p, const Axis& axis, double epsilon) {
    const Tensor given = floating("normalize", x);
    const auto axes = axis.of("normalize", x.rank());
    user_check(p > 0, "normalize: p is ", p, ". A positive number is required.");
    return errors_as("normalize", [&] {
        Tensor norm;
        if (p == 2) {
            // The slope of sqrt at 0 is infinite; that of a norm there is 0.
            const Tensor sum = numpy::sum(given * given, axes, {}, true);
            const Tensor is_zero = apply("equal", {sum, 0.0});
            const Tensor safe = apply("where", {is_zero, 1.0, sum});
            norm = apply("where", {is_zero, 0.0, apply("sqrt", {safe})});
        } else if (std::isinf(p)) {
            norm = numpy::max(apply("absolute", {given}), axes, true);
        } else if (p == 1) {
            norm = numpy::sum(apply("absolute", {given}), axes, {}, true);
        } else {
            const Tensor size = apply("absolute", {given});
            const Tensor is_zero = apply("equal", {size, 0.0});
            const Tensor safe = apply("where", {is_zero, 1.0, size});
            const Tensor powers = apply("where", {is_zero, 0.0, apply("power", {safe, p})});
            const Tensor sum = numpy::sum(powers, axes, {}, true);
            const Tensor is_none = apply("equal", {sum, 0.0});
            const Tensor root =
                apply("power", {Tensor(apply("where", {is_none, 1.0, sum})), 1 / p});
            norm = apply("where", {is_none, 0.0, root});
        }
        const Tensor least = numpy::scalar(given.dtype(), epsilon);
        return given / apply("where", {norm < least, least, norm});
    });
}

}  // namespace composit::nn
