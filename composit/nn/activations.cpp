// Activations as expressions of elementwise functions.
#include "composit/nn/activations.h"

#include "composit/base/errors_as.h"
#include "composit/nn/checks.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/random/distributions.h"

#include <cmath>

namespace composit::nn {
namespace {

using numpy::apply;
using numpy::Operand;

template <class Build>
Tensor activation(std::string_view name, const Tensor& x, const Build& build) {
    return numpy::one_node(name, {floating(name, x)},
                           [&](const numpy::Tensors& operands) { return build(operands[0]); });
}

Tensor chosen(const Tensor& condition, const Operand& yes, const Operand& no) {
    return apply("where", {condition, yes, no});
}

// No slope at the bounds themselves, and NaN as it is.
Tensor bounded(const Tensor& x, double least, double greatest) {
    return chosen(x <= least, least, chosen(x >= greatest, greatest, x));
}

// x where x > 0, else alpha * expm1(x / scale). What is not chosen must not overflow: its slope,
// times 0, would not be 0.
Tensor exponential_unit(const Tensor& x, double alpha, double scale) {
    const Tensor is_below = x <= 0;
    const Tensor below = chosen(is_below, x, 0.0);
    const Tensor bent = apply("expm1", {scale == 1 ? below : below / scale});
    return chosen(is_below, alpha == 1 ? bent : bent * alpha, x);
}

}  // namespace

Tensor tanh(const Tensor& x) { return apply("tanh", {x}); }

Tensor relu6(const Tensor& x) {
    return activation("relu6", x, [](const Tensor& x) { return bounded(x, 0, 6); });
}

Tensor leaky_relu(const Tensor& x, double negative_slope) {
    return activation("leaky_relu", x,
                      [&](const Tensor& x) { return chosen(x > 0, x, x * negative_slope); });
}

Tensor prelu(const Tensor& x, const Tensor& weight, int64_t channel_axis) {
    const Tensor given = floating("prelu", x), slopes = floating("prelu", weight, "weight");
    Tensor aligned = slopes;
    if (slopes.size() == 1) {
        aligned = numpy::reshape(slopes, {});
    } else {
        const int64_t axis = numpy::normalize_axis("prelu", channel_axis, x.rank());
        user_check(slopes.rank() == 1 && slopes.size() == x.shape()[static_cast<size_t>(axis)],
                   "prelu: x has shape ", x.shape(), ", weight has shape ", weight.shape(),
                   ". One weight, or one for each of the ", x.shape()[static_cast<size_t>(axis)],
                   " channels of axis ", axis, " is required.");
        ir::Shape shape(x.shape().size(), 1);
        shape[static_cast<size_t>(axis)] = slopes.size();
        aligned = numpy::reshape(slopes, shape);
    }
    const auto both = errors_as("prelu", [&] { return numpy::promoted({given, aligned}); });
    return numpy::one_node("prelu", both, [](const numpy::Tensors& operands) {
        return chosen(operands[0] > 0, operands[0], operands[0] * operands[1]);
    });
}

Tensor rrelu(const Tensor& x, double lower, double upper, const Tensor& key) {
    user_check(lower <= upper, "rrelu: lower is ", lower, ", upper is ", upper,
               ". lower <= upper is required.");
    if (!key)
        return activation("rrelu", x, [&](const Tensor& x) {
            return chosen(x > 0, x, x * ((lower + upper) / 2));
        });
    const Tensor given = floating("rrelu", x);
    random::check_draw("rrelu", key, x.shape());
    return numpy::one_node("rrelu", {given, key}, [&](const numpy::Tensors& operands) {
        const Tensor drawn = random::uniform(operands[1], x.shape(), given.dtype(), lower, upper);
        return chosen(operands[0] > 0, operands[0], operands[0] * drawn);
    });
}

Tensor elu(const Tensor& x, double alpha) {
    return activation("elu", x, [&](const Tensor& x) { return exponential_unit(x, alpha, 1); });
}

Tensor selu(const Tensor& x) {
    return activation("selu", x, [](const Tensor& x) {
        return exponential_unit(x, 1.6732632423543772848170429916717, 1) *
               1.0507009873554804934193349852946;
    });
}

Tensor celu(const Tensor& x, double alpha) {
    user_check(alpha != 0, "celu: alpha is 0. Another number is required.");
    return activation("celu", x,
                      [&](const Tensor& x) { return exponential_unit(x, alpha, alpha); });
}

Tensor mish(const Tensor& x) {
    return activation("mish", x,
                      [](const Tensor& x) { return x * apply("tanh", {apply("softplus", {x})}); });
}

Tensor hardtanh(const Tensor& x, double least, double greatest) {
    user_check(least <= greatest, "hardtanh: least is ", least, ", greatest is ", greatest,
               ". least <= greatest is required.");
    return activation("hardtanh", x, [&](const Tensor& x) { return bounded(x, least, greatest); });
}

Tensor hardsigmoid(const Tensor& x) {
    return activation("hardsigmoid", x, [](const Tensor& x) {
        return chosen(x <= -3, 0.0, chosen(x >= 3, 1.0, (x + 3) / 6));
    });
}

Tensor hardswish(const Tensor& x) {
    return activation("hardswish", x, [](const Tensor& x) {
        const Tensor near = chosen(apply("absolute", {x}) >= 3, 0.0, x);  // no infinity
        return chosen(x <= -3, 0.0, chosen(x >= 3, x, near * (near + 3) / 6));
    });
}

Tensor softplus(const Tensor& x, double beta, double threshold) {
    user_check(beta != 0, "softplus: beta is 0. Another number is required.");
    return activation("softplus", x, [&](const Tensor& x) {
        const Tensor scaled = beta == 1 ? x : x * beta;
        const Tensor bent = apply("softplus", {scaled});
        return chosen(scaled > threshold, x, beta == 1 ? bent : bent / beta);
    });
}

Tensor softsign(const Tensor& x) {
    return activation("softsign", x,
                      [](const Tensor& x) { return x / (apply("absolute", {x}) + 1); });
}

Tensor softshrink(const Tensor& x, double lambd) {
    user_check(lambd >= 0, "softshrink: lambd is ", lambd, ". It must not be negative.");
    return activation("softshrink", x, [&](const Tensor& x) {
        return chosen(x > lambd, x - lambd, chosen(x >= -lambd, 0.0, x + lambd));
    });
}

Tensor hardshrink(const Tensor& x, double lambd) {
    return activation("hardshrink", x, [&](const Tensor& x) {
        return chosen(apply("absolute", {x}) <= lambd, 0.0, x);
    });
}

Tensor tanhshrink(const Tensor& x) {
    return activation("tanhshrink", x, [](const Tensor& x) { return x - apply("tanh", {x}); });
}

Tensor threshold(const Tensor& x, double least, double value) {
    return activation("threshold", x,
                      [&](const Tensor& x) { return chosen(x <= least, value, x); });
}

Tensor logsigmoid(const Tensor& x) {
    return activation("logsigmoid", x, [](const Tensor& x) { return -apply("softplus", {-x}); });
}

Tensor glu(const Tensor& x, int64_t axis) {
    axis = numpy::normalize_axis("glu", axis, x.rank());
    const int64_t length = x.shape()[static_cast<size_t>(axis)];
    user_check(length % 2 == 0, "glu: axis ", axis, " of shape ", x.shape(), " has ", length,
               " elements. An even number is required.");
    return activation("glu", x, [&](const Tensor& x) {
        const auto halves = numpy::split(x, 2, axis);
        return halves[0] * apply("sigmoid", {halves[1]});
    });
}

}  // namespace composit::nn
