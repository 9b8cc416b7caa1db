// Steps of optimisers, of the domain ai.onnx.preview.training.
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/onnx/operators.h"

#include <functional>

namespace composit::onnx {
namespace training {
namespace {

using numpy::apply;
using Parts = std::vector<Tensor>;

// Inputs: the rate, the count of steps, then parameters, gradients and states in groups; outputs:
// new parameters and states in groups. `step` is of one parameter.
Values of_each(Call& call, size_t groups, const std::function<Parts(const Parts&)>& step) {
    call.check(call.input_count() > 2 && (call.input_count() - 2) % groups == 0, "there are ",
               call.input_count(), " inputs. Two, and ", groups,
               " for each parameter, are required.");
    const size_t count = (call.input_count() - 2) / groups;
    Values values((groups - 1) * count);
    for (size_t i = 0; i < count; ++i) {
        Parts parts;
        for (size_t k = 0; k < groups; ++k) parts.push_back(call.tensor(2 + k * count + i));
        const Parts made = step(parts);
        for (size_t k = 0; k < made.size(); ++k) values[k * count + i] = Value(made[k]);
    }
    return values;
}

Tensor regularized(const Call& call, const Tensor& x, const Tensor& gradient) {
    return call.number("norm_coefficient", 0) * x + gradient;
}

Tensor steps_as(const Call& call, const Tensor& x) {
    return numpy::astype(call.tensor(1), x.dtype());
}

Values adagrad(Call& call) {
    return of_each(call, 3, [&](const Parts& parts) {
        const Tensor &x = parts[0], &rate = call.tensor(0);
        const Tensor factor = rate / (1 + steps_as(call, x) * call.number("decay_factor", 0));
        const Tensor gradient = regularized(call, x, parts[1]);
        const Tensor squares = parts[2] + gradient * gradient;
        const Tensor size = apply("sqrt", {squares}) + call.number("epsilon", 1e-6f);
        return Parts{x - factor * gradient / size, squares};
    });
}

Values adam(Call& call) {
    const double alpha = call.number("alpha", 0.9f), beta = call.number("beta", 0.999f);
    return of_each(call, 4, [&](const Parts& parts) {
        const Tensor &x = parts[0], &rate = call.tensor(0);
        const Tensor gradient = regularized(call, x, parts[1]);
        const Tensor mean = alpha * parts[2] + (1 - alpha) * gradient;
        const Tensor squares = beta * parts[3] + (1 - beta) * (gradient * gradient);
        const Tensor size = apply("sqrt", {squares}) + call.number("epsilon", 1e-6f);
        const Tensor t = numpy::astype(call.tensor(1), DType::float64);
        const Tensor corrected =
            apply("sqrt", {1 - apply("power", {beta, t})}) / (1 - apply("power", {alpha, t}));
        const Tensor factor =
            rate * numpy::astype(apply("where", {t > 0.0, corrected, 1.0}), x.dtype());
        const Tensor next = x - factor * mean / size;
        return Parts{(1 - call.number("norm_coefficient_post", 0)) * next, mean, squares};
    });
}

Values momentum(Call& call) {
    const std::string mode = call.text("mode", "standard");
    call.check(mode == "standard" || mode == "nesterov", "mode is '", mode,
               "'. standard or nesterov is required.");
    const double alpha = call.number("alpha", 0);
    return of_each(call, 3, [&](const Parts& parts) {
        const Tensor &x = parts[0], &rate = call.tensor(0);
        const Tensor gradient = regularized(call, x, parts[1]);
        const Tensor factor =
            apply("where", {steps_as(call, x) > 0.0, call.number("beta", 0), 1.0});
        const Tensor next = alpha * parts[2] + numpy::astype(factor, x.dtype()) * gradient;
        const Tensor direction = mode == "nesterov" ? gradient + alpha * next : next;
        return Parts{x - rate * direction, next};
    });
}

}  // namespace
}  // namespace training

void add_training(Registry& registry) {
    using namespace training;
    constexpr std::string_view domain = "ai.onnx.preview.training";
    registry.add("Adagrad", adagrad, domain);
    registry.add("Adam", adam, domain);
    registry.add("Momentum", momentum, domain);
}

}  // namespace composit::onnx
