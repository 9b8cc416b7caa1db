// Weights of a variance that depends on the fans of a layer.
#include "composit/nn/initializers.h"

#include "composit/base/error.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/random/distributions.h"

#include <cmath>

namespace composit::nn {
namespace {

struct Scaling {
    double scale;
    std::string_view mode, distribution;
};

double fan_of(std::string_view function, const Shape& shape, const FanAxes& fans,
              std::string_view mode) {
    user_check(shape.size() >= 2, function, ": shape is ", shape,
               ". At least two dimensions are required: in and out.");
    const int rank = static_cast<int>(shape.size());
    const auto in = static_cast<size_t>(numpy::normalize_axis(function, fans.in_axis, rank));
    const auto out = static_cast<size_t>(numpy::normalize_axis(function, fans.out_axis, rank));
    user_check(in != out, function, ": in_axis and out_axis are both ", in,
               ". Different ones are required.");
    double window = 1;
    for (size_t d = 0; d < shape.size(); ++d)
        if (d != in && d != out) window *= static_cast<double>(shape[d]);
    const double fan_in = window * static_cast<double>(shape[in]);
    const double fan_out = window * static_cast<double>(shape[out]);
    user_check(mode == "fan_in" || mode == "fan_out" || mode == "fan_avg", function, ": mode is '",
               mode, "'. Available: fan_in, fan_out, fan_avg.");
    const double fan = mode == "fan_in"    ? fan_in
                       : mode == "fan_out" ? fan_out
                                           : (fan_in + fan_out) / 2;
    user_check(fan > 0, function, ": shape is ", shape, ", its ", mode,
               " is 0. A positive one is required.");
    return fan;
}

Tensor scaled(std::string_view function, const Tensor& key, const Shape& shape,
              const Scaling& scaling, const FanAxes& fans, DType dtype) {
    random::check_draw(function, key, shape);
    user_check(scaling.scale > 0, function, ": scale is ", scaling.scale,
               ". A positive number is required.");
    const double variance = scaling.scale / fan_of(function, shape, fans, scaling.mode);
    const std::string_view distribution = scaling.distribution;
    user_check(
        distribution == "normal" || distribution == "uniform" || distribution == "truncated_normal",
        function, ": distribution is '", distribution,
        "'. Available: normal, truncated_normal, uniform.");
    return numpy::one_node(function, {key}, [&](const numpy::Tensors& x) {
        if (distribution == "uniform") {
            const double bound = std::sqrt(3 * variance);
            return random::uniform(x[0], shape, dtype, -bound, bound);
        }
        if (distribution == "normal")
            return random::normal(x[0], shape, dtype) * std::sqrt(variance);
        // The deviation of the normal distribution between -2 and 2.
        constexpr double deviation_within_2 = 0.879625661034239768;
        return random::truncated_normal(x[0], -2.0, 2.0, shape, dtype) *
               (std::sqrt(variance) / deviation_within_2);
    });
}

constexpr Scaling glorot(std::string_view distribution) { return {1, "fan_avg", distribution}; }
constexpr Scaling he(std::string_view distribution) { return {2, "fan_in", distribution}; }
constexpr Scaling lecun(std::string_view distribution) { return {1, "fan_in", distribution}; }

}  // namespace

Tensor glorot_normal(const Tensor& key, const Shape& shape, const FanAxes& fans, DType dtype) {
    return scaled("glorot_normal", key, shape, glorot("normal"), fans, dtype);
}

Tensor glorot_uniform(const Tensor& key, const Shape& shape, const FanAxes& fans, DType dtype) {
    return scaled("glorot_uniform", key, shape, glorot("uniform"), fans, dtype);
}

Tensor he_normal(const Tensor& key, const Shape& shape, const FanAxes& fans, DType dtype) {
    return scaled("he_normal", key, shape, he("normal"), fans, dtype);
}

Tensor he_uniform(const Tensor& key, const Shape& shape, const FanAxes& fans, DType dtype) {
    return scaled("he_uniform", key, shape, he("uniform"), fans, dtype);
}

Tensor lecun_normal(const Tensor& key, const Shape& shape, const FanAxes& fans, DType dtype) {
    return scaled("lecun_normal", key, shape, lecun("normal"), fans, dtype);
}

Tensor lecun_uniform(const Tensor& key, const Shape& shape, const FanAxes& fans, DType dtype) {
    return scaled("lecun_uniform", key, shape, lecun("uniform"), fans, dtype);
}

Tensor variance_scaling(const Tensor& key, const Shape& shape, double scale, std::string_view mode,
                        std::string_view distribution, const FanAxes& fans, DType dtype) {
    return scaled("variance_scaling", key, shape, {scale, mode, distribution}, fans, dtype);
}

}  // namespace composit::nn
