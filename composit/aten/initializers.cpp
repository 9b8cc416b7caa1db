// Widths of weights.
#include "composit/aten/initializers.h"

#include "composit/base/error.h"

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

}  // namespace composit::aten
