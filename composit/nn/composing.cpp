// clipping, accumulating and loss_scaling, and mixed precision.
#include "composit/nn/composing.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <cmath>
#include <limits>
#include <string_view>

namespace composit::nn {
namespace {

using ir::DType;
using Tensors = std::vector<Tensor>;

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
    return numpy::apply("where", {condition, a, b});
}

// `made` where the condition holds, else what was there before.
Tensors chosen(const Tensor& condition, const Tensors& made, const Tensors& before) {
    Tensors result;
    for (size_t i = 0; i < made.size(); ++i) result.push_back(where(condition, made[i], before[i]));
    return result;
}

void check_step(std::string_view function, const Tensors& parameters, const Tensors& gradients,
                const Tensors& state, size_t own) {
    user_check(parameters.size() == gradients.size(), function, ": ", parameters.size(),
               " parameters and ", gradients.size(), " gradients. As many of each are required.");
    for (size_t i = 0; i < gradients.size(); ++i)
        user_check(gradients[i].shape() == parameters[i].shape(), function, ": gradient ", i,
                   " has shape ", gradients[i].shape(), ", its parameter ", parameters[i].shape(),
                   ". They must be equal.");
    user_check(
        state.size() >= own, function, ": the state has ", state.size(), " tensors. ", own,
        " or more are required: initial_state(parameters), or the state of the step before.");
}

void check_number(std::string_view function, const Tensor& x, DType dtype) {
    user_check(x.rank() == 0 && x.dtype() == dtype, function, ": the state has a ", x.type(),
               ". A number of dtype ", dtype, " is required: initial_state(parameters), or the ",
               "state of the step before.");
}

Tensors rest(const Tensors& state, size_t own) {
    return {state.begin() + static_cast<std::ptrdiff_t>(own), state.end()};
}

void append(Tensors& to, const Tensors& more) { to.insert(to.end(), more.begin(), more.end()); }

void check_positive(std::string_view function, std::string_view name, double value) {
    user_check(value > 0 && std::isfinite(value), function, ": ", name, " is ", value,
               ". A positive number is required.");
}

Updated accumulate(const Optimizer& optimizer, int64_t steps, const Tensors& parameters,
                   const Tensors& gradients, const Tensors& state) {
    const size_t count = parameters.size();
    check_step("accumulating", parameters, gradients, state, 1 + count);
    check_number("accumulating", state[0], DType::int64);
    const Tensor summed = state[0] + 1;
    const Tensor is_last = summed >= steps;
    Tensors sums, means;
    for (size_t i = 0; i < count; ++i) {
        sums.push_back(state[1 + i] + ops::astype(gradients[i], parameters[i].dtype()));
        means.push_back(sums[i] / static_cast<double>(steps));
    }
    const Tensors inner = rest(state, 1 + count);
    const Updated made = optimizer.step(parameters, means, inner);
    Updated result{chosen(is_last, made.parameters, parameters), {}};
    result.state.push_back(where(is_last, numpy::zeros({}, DType::int64), summed));
    for (const Tensor& sum : sums)
        result.state.push_back(where(is_last, numpy::zeros(sum.shape(), sum.dtype()), sum));
    append(result.state, chosen(is_last, made.state, inner));
    return result;
}

Updated scaled_step(const Optimizer& optimizer, const LossScaleOptions& o,
                    const Tensors& parameters, const Tensors& gradients, const Tensors& state) {
    check_step("loss_scaling", parameters, gradients, state, 2);
    check_number("loss_scaling", state[0], DType::float32);
    check_number("loss_scaling", state[1], DType::int64);
    const Tensor inverse = 1.0 / state[0];
    Tensor is_finite = ir::constant(ir::Array::scalar(DType::boolean, 1));
    Tensors given, unscaled;
    for (size_t i = 0; i < gradients.size(); ++i) {
        given.push_back(ops::astype(gradients[i], parameters[i].dtype()));
        is_finite = is_finite & numpy::all(numpy::apply("isfinite", {given[i]}));
    }
    // A step that is left out computes with zeros: nothing to warn of.
    for (const Tensor& g : given)
        unscaled.push_back(
            where(is_finite, g * ops::astype(inverse, g.dtype()), numpy::zeros({}, g.dtype())));
    const Tensors inner = rest(state, 2);
    const Updated made = optimizer.step(parameters, unscaled, inner);
    Updated result{chosen(is_finite, made.parameters, parameters), {}};
    const Tensor good = state[1] + 1;
    const Tensor is_due = good >= o.interval;
    constexpr auto largest = static_cast<double>(std::numeric_limits<float>::max());
    const Tensor factor =
        where(state[0] <= largest / o.growth, numpy::scalar(DType::float32, o.growth),
              numpy::scalar(DType::float32, 1));
    const Tensor larger = state[0] * factor;
    const Tensor none = numpy::zeros({}, DType::int64);
    result.state = {where(is_finite, where(is_due, larger, state[0]), state[0] * o.backoff),
                    where(is_finite & ~is_due, good, none)};
    append(result.state, chosen(is_finite, made.state, inner));
    return result;
}

}  // namespace

Optimizer clipping(const Optimizer& optimizer, double maximum, double order) {
    (void)clip_by_global_norm({}, maximum, order);  // the options are checked now
    const auto step = [=](const Tensors& parameters, const Tensors& gradients,
                          const Tensors& state) {
        return optimizer.step(parameters, clip_by_global_norm(gradients, maximum, order).gradients,
                              state);
    };
    return {optimizer.initial_state, step};
}

Optimizer accumulating(const Optimizer& optimizer, int64_t steps) {
    user_check(steps > 0, "accumulating: steps is ", steps, ". A positive integer is required.");
    const auto initial = [=](const Tensors& parameters) {
        const Tensors inner = optimizer.initial_state(parameters);
        Tensors state{numpy::scalar(DType::int64, 0, "summed")};
        for (const Tensor& p : parameters) state.push_back(numpy::zeros(p.shape(), p.dtype()));
        append(state, inner);
        return state;
    };
    const auto step = [=](const Tensors& parameters, const Tensors& gradients,
                          const Tensors& state) {
        return accumulate(optimizer, steps, parameters, gradients, state);
    };
    return {initial, step};
}

Optimizer loss_scaling(const Optimizer& optimizer, const LossScaleOptions& options) {
    check_positive("loss_scaling", "initial", options.initial);
    check_positive("loss_scaling", "growth", options.growth);
    check_positive("loss_scaling", "backoff", options.backoff);
    user_check(options.growth >= 1 && options.backoff < 1, "loss_scaling: growth is ",
               options.growth, ", backoff ", options.backoff,
               ". A growth from 1 and a backoff below 1 are required.");
    user_check(options.interval > 0, "loss_scaling: interval is ", options.interval,
               ". A positive integer is required.");
    const auto initial = [=](const Tensors& parameters) {
        Tensors state{numpy::scalar(DType::float32, options.initial, "scale"),
                      numpy::scalar(DType::int64, 0, "steps_of_scale")};
        append(state, optimizer.initial_state(parameters));
        return state;
    };
    const auto step = [=](const Tensors& parameters, const Tensors& gradients,
                          const Tensors& state) {
        return scaled_step(optimizer, options, parameters, gradients, state);
    };
    return {initial, step};
}

Tensor scale_loss(const Tensor& loss, const Tensors& state) {
    user_check<TypeError>(ir::is_floating(loss.dtype()), "scale_loss: the loss is ", loss.dtype(),
                          ". A real floating dtype is required.");
    user_check(!state.empty(), "scale_loss: the state is empty. loss_scaling's is required.");
    check_number("scale_loss", state[0], DType::float32);
    return numpy::strong(loss) * state[0];
}

std::vector<Tensor> cast_floating(const Tensors& tensors, DType dtype) {
    user_check<TypeError>(ir::is_floating(dtype), "cast_floating: dtype is ", dtype,
                          ". A real floating dtype is required.");
    Tensors result;
    for (const Tensor& x : tensors)
        result.push_back(ir::is_floating(x.dtype()) ? ops::astype(x, dtype) : x);
    return result;
}

}  // namespace composit::nn
