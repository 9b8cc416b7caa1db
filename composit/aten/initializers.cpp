// Widths of weights.
#include "composit/aten/initializers.h"

#include "composit/base/error.h"

#include <algorithm>
#include <cmath>

namespace composit::aten {

double calculate_gain(std::string_view nonlinearity, std::optional<double> slope) {
    if (nonlinearity == "tanh") return 5.0 / 3;
    if (nonlinearity == "relu") return std::sqrt(2.0);
    if (nonlinearity == "leaky_relu") {
        const double below = slope.value_or(0.01);
        return std::sqrt(2.0 / (1 + below * below));
    }
    if (nonlinearity == "selu") return 3.0 / 4;
    user_check(
        nonlinearity == "linear" || nonlinearity == "sigmoid" || nonlinearity.starts_with("conv"),
        "Unsupported nonlinearity ", nonlinearity);
    return 1.0;
}

std::pair<int64_t, int64_t> fans_of(const ir::Shape& shape) {
    user_check(shape.size() >= 2,
               "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions");
    const int64_t window = ir::element_count({shape.begin() + 2, shape.end()});
    return {shape[1] * window, shape[0] * window};
}

double kaiming_deviation(const ir::Shape& shape, double slope, std::string_view mode,
                         std::string_view nonlinearity) {
    user_check(mode == "fan_in" || mode == "fan_out", "Mode ", mode,
               " not supported, please use one of ['fan_in', 'fan_out']");
    const auto [in, out] = fans_of(shape);
    const int64_t fan = mode == "fan_in" ? in : out;
    return calculate_gain(nonlinearity, slope) / std::sqrt(static_cast<double>(fan));
}

ir::Array dirac(const ir::Shape& shape, int64_t groups) {
    user_check(shape.size() >= 3 && shape.size() <= 5,
               "Only tensors with 3, 4, or 5 dimensions are supported");
    user_check(groups > 0 && shape[0] % groups == 0, "dim 0 must be divisible by groups");
    ir::Array made = ir::Array::zeros(ir::DType::float64, shape);
    auto* const values = static_cast<double*>(made.mutable_data());
    const int64_t window = ir::element_count({shape.begin() + 2, shape.end()});
    int64_t middle = 0;
    for (size_t d = 2; d < shape.size(); ++d) middle = middle * shape[d] + shape[d] / 2;
    const int64_t each = shape[0] / groups;
    for (int64_t group = 0; group < groups && window > 0; ++group)
        for (int64_t i = 0; i < std::min(each, shape[1]); ++i)
            values[((group * each + i) * shape[1] + i) * window + middle] = 1;
    return made;
}

}  // namespace composit::aten
