// Optimisers: what they have in common, once, and the formula of each.
#include "composit/nn/optimizers.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <cmath>
#include <string_view>

namespace composit::nn {
namespace {

using ir::DType;
using Tensors = std::vector<Tensor>;

// A number of one step: known when the graph is built, or a float64 scalar of the graph.
class Factor {
  public:
    Factor(double known) : known_(known) {}
    Factor(Tensor value) : value_(std::move(value)) {}

    // As an operand beside `like`, in whose dtype it is used.
    Tensor beside(const Tensor& like) const {
        return value_ ? ops::astype(value_, like.dtype()) : ir::weak_scalar(known_);
    }
    template <class Function>
    Factor combine(const Factor& other, const Function& function) const {
        if (!value_ && !other.value_) return Factor(function(known_, other.known_));
        if (!value_) return Factor(function(known_, other.value_));
        if (!other.value_) return Factor(function(value_, other.known_));
        return Factor(function(value_, other.value_));
    }

  private:
    double known_ = 0;
    Tensor value_;
};

Factor operator-(const Factor& a, const Factor& b) {
    return a.combine(b, [](const auto& x, const auto& y) { return x - y; });
}
Factor operator*(const Factor& a, const Factor& b) {
    return a.combine(b, [](const auto& x, const auto& y) { return x * y; });
}
Factor operator/(const Factor& a, const Factor& b) {
    return a.combine(b, [](const auto& x, const auto& y) { return x / y; });
}
Tensor operator*(const Tensor& x, const Factor& factor) { return x * factor.beside(x); }
Tensor operator/(const Tensor& x, const Factor& factor) { return x / factor.beside(x); }

Tensor square(const Tensor& x) { return x * x; }
Tensor root(const Tensor& x) { return numpy::apply("sqrt", {x}); }
Tensor maximum(const Tensor& a, const numpy::Operand& b) { return numpy::apply("maximum", {a, b}); }
Tensor power(double base, const Tensor& exponent) {
    return numpy::apply("power", {base, exponent});
}

// The step that is made: its rate, and where the optimiser counts, its number, 1 for the first.
struct Now {
    Factor rate;
    Tensor number;    // float64
    Tensor is_first;  // bool
};
struct Change {
    Tensor parameter;
    Tensors kept;
};
// What differs between optimisers.
struct Method {
    std::string_view name;
    LearningRate rate;
    bool counts = false;
    bool maximize = false;
    double weight_decay = 0;       // added to the gradient
    std::vector<double> initials;  // of what is kept for each parameter
    std::function<Change(const Tensor& p, const Tensor& g, const Tensors& kept, const Now& now)>
        change;

    bool has_count() const { return counts || rate.is_scheduled(); }
};

void check_parameters(const Method& method, const Tensors& parameters) {
    for (size_t i = 0; i < parameters.size(); ++i)
        user_check<TypeError>(ir::is_floating(parameters[i].dtype()), method.name, ": parameter ",
                              i, " is ", parameters[i].dtype(),
                              ". A real floating dtype is required.");
}

void check_step(const Method& method, const Tensors& parameters, const Tensors& gradients,
                const Tensors& state) {
    user_check(parameters.size() == gradients.size(), method.name, ": ", parameters.size(),
               " parameters and ", gradients.size(), " gradients. As many of each are required.");
    check_parameters(method, parameters);
    const size_t first = method.has_count() ? 1 : 0,
                 required = first + method.initials.size() * parameters.size();
    user_check(state.size() == required, method.name, ": the state has ", state.size(),
               " tensors. ", required,
               " are required: initial_state(parameters), or the state of the step before.");
    for (size_t i = 0; i < parameters.size(); ++i)
        user_check(gradients[i].shape() == parameters[i].shape(), method.name, ": gradient ", i,
                   " has shape ", gradients[i].shape(), ", its parameter ", parameters[i].shape(),
                   ". They must be equal.");
    for (size_t i = first; i < state.size(); ++i) {
        const Tensor& p = parameters[(i - first) % parameters.size()];
        user_check(state[i].type() == p.type(), method.name, ": tensor ", i, " of the state is ",
                   state[i].type(), ", its parameter ", p.type(), ". They must be equal.");
    }
    if (first == 1)
        user_check(state[0].rank() == 0 && ir::is_integer(state[0].dtype()), method.name,
                   ": the state begins with ", state[0].type(),
                   ". The number of steps is required, an integer of no dimensions.");
}

Tensors initial_state(const Method& method, const Tensors& parameters) {
    check_parameters(method, parameters);
    Tensors state;
    if (method.has_count()) state.push_back(numpy::scalar(DType::int64, 0, "step"));
    for (const double initial : method.initials)
        for (const Tensor& p : parameters)
            state.push_back(initial == 0 ? numpy::zeros(p.shape(), p.dtype())
                                         : numpy::full(p.shape(), initial, p.dtype()));
    return state;
}

Updated update(const Method& method, const Tensors& parameters, const Tensors& gradients,
               const Tensors& state) {
    check_step(method, parameters, gradients, state);
    const size_t count = parameters.size(), first = method.has_count() ? 1 : 0;
    Updated result;
    const auto rate = [&]() -> Factor {
        if (method.rate.known()) return *method.rate.known();
        return method.rate.at(first == 1 ? state[0] : Tensor());
    };
    Now now{rate(), {}, {}};
    result.state.resize(state.size());
    if (first == 1) {
        result.state[0] = state[0] + 1;
        now.number = ops::astype(result.state[0], DType::float64);
        now.is_first = numpy::apply("equal", {state[0], 0});
    }
    for (size_t i = 0; i < count; ++i) {
        const Tensor& p = parameters[i];
        Tensor g = ops::astype(gradients[i], p.dtype());
        if (method.maximize) g = -g;
        if (method.weight_decay != 0) g = g + p * method.weight_decay;
        Tensors kept;
        for (size_t k = 0; k < method.initials.size(); ++k)
            kept.push_back(state[first + k * count + i]);
        Change change = method.change(p, g, kept, now);
        result.parameters.push_back(std::move(change.parameter));
        for (size_t k = 0; k < method.initials.size(); ++k)
            result.state[first + k * count + i] = std::move(change.kept[k]);
    }
    return result;
}

void check_from_zero(const Method& method, std::string_view option, double value) {
    user_check(value >= 0 && std::isfinite(value), method.name, ": ", option, " is ", value,
               ". A finite number from 0 is required.");
}
void check_weight_of_mean(const Method& method, std::string_view option, double value) {
    user_check(value >= 0 && value < 1, method.name, ": ", option, " is ", value,
               ". A number from 0, below 1, is required.");
}

Optimizer as_optimizer(Method method) {
    if (method.rate.known()) check_from_zero(method, "learning_rate", *method.rate.known());
    check_from_zero(method, "weight_decay", method.weight_decay);
    for (const double initial : method.initials) check_from_zero(method, "an initial", initial);
    return {[method](const Tensors& parameters) { return initial_state(method, parameters); },
            [method](const Tensors& parameters, const Tensors& gradients, const Tensors& state) {
                return errors_as(method.name,
                                 [&] { return update(method, parameters, gradients, state); });
            }};
}

Optimizer adam_optimizer(std::string_view name, const AdamOptions& o, bool is_decoupled) {
    Method method{.name = name,
                  .rate = o.learning_rate,
                  .counts = true,
                  .maximize = o.maximize,
                  .weight_decay = is_decoupled ? 0 : o.weight_decay,
                  .initials = std::vector<double>(o.amsgrad ? 3 : 2, 0.0),
                  .change = {}};
    check_weight_of_mean(method, "beta1", o.beta1);
    check_weight_of_mean(method, "beta2", o.beta2);
    check_from_zero(method, "epsilon", o.epsilon);
    check_from_zero(method, "weight_decay", o.weight_decay);
    method.change = [o, is_decoupled](const Tensor& p, const Tensor& g, const Tensors& kept,
                                      const Now& now) -> Change {
        const Factor rate = now.rate / (1.0 - power(o.beta1, now.number));
        const Factor correction = root(1.0 - power(o.beta2, now.number));
        const Tensor decayed =
            is_decoupled && o.weight_decay != 0 ? p * (1.0 - now.rate * o.weight_decay) : p;
        const Tensor first = kept[0] * o.beta1 + g * (1 - o.beta1);
        const Tensor second = kept[1] * o.beta2 + square(g) * (1 - o.beta2);
        Tensors next{first, second};
        if (o.amsgrad) next.push_back(maximum(kept[2], second));
        const Tensor scale = root(next.back()) / correction + o.epsilon;
        return {decayed - (first / scale) * rate, next};
    };
    return as_optimizer(std::move(method));
}

}  // namespace

Tensor LearningRate::at(const Tensor& step) const {
    if (known_) return numpy::scalar(DType::float64, *known_);
    if (schedule_) return (*schedule_)(step);
    user_check(value_.rank() == 0 && !ir::is_complex(value_.dtype()),
               "the learning rate is a tensor ", value_.type(),
               ". A real number of no dimensions is required.");
    return ops::astype(numpy::strong(value_), DType::float64);
}

Optimizer sgd(const SgdOptions& o) {
    user_check(!o.nesterov || (o.momentum > 0 && o.dampening == 0),
               "sgd: Nesterov momentum requires a momentum, which is ", o.momentum,
               ", and no dampening, which is ", o.dampening, ".");
    const bool has_momentum = o.momentum != 0;
    Method method{.name = "sgd",
                  .rate = o.learning_rate,
                  .counts = has_momentum && o.dampening != 0,
                  .maximize = o.maximize,
                  .weight_decay = o.weight_decay,
                  .initials = std::vector<double>(has_momentum ? 1 : 0, 0.0),
                  .change = {}};
    check_from_zero(method, "momentum", o.momentum);
    method.change = [o, has_momentum](const Tensor& p, const Tensor& g, const Tensors& kept,
                                      const Now& now) -> Change {
        if (!has_momentum) return {p - g * now.rate, {}};
        Tensor added = g;
        if (o.dampening != 0)  // the first gradient is taken whole
            added = numpy::apply("where", {now.is_first, g, g * (1 - o.dampening)});
        const Tensor velocity = kept[0] * o.momentum + added;
        const Tensor direction = o.nesterov ? g + velocity * o.momentum : velocity;
        return {p - direction * now.rate, {velocity}};
    };
    return as_optimizer(std::move(method));
}

Optimizer adam(const AdamOptions& options) { return adam_optimizer("adam", options, false); }
Optimizer adamw(const AdamOptions& options) { return adam_optimizer("adamw", options, true); }

Optimizer rmsprop(const RmspropOptions& o) {
    const size_t at_velocity = 1, at_mean = o.momentum != 0 ? 2 : 1;
    Method method{.name = "rmsprop",
                  .rate = o.learning_rate,
                  .maximize = o.maximize,
                  .weight_decay = o.weight_decay,
                  .initials = std::vector<double>(at_mean + (o.centered ? 1 : 0), 0.0),
                  .change = {}};
    check_from_zero(method, "momentum", o.momentum);
    check_from_zero(method, "epsilon", o.epsilon);
    check_weight_of_mean(method, "alpha", o.alpha);
    method.change = [=](const Tensor& p, const Tensor& g, const Tensors& kept,
                        const Now& now) -> Change {
        Tensors next = kept;
        next[0] = kept[0] * o.alpha + square(g) * (1 - o.alpha);
        Tensor variance = next[0];
        if (o.centered) {
            next[at_mean] = kept[at_mean] * o.alpha + g * (1 - o.alpha);
            // Rounding may leave less than nothing of a variance.
            variance = maximum(variance - square(next[at_mean]), 0.0);
        }
        Tensor direction = g / (root(variance) + o.epsilon);
        if (o.momentum != 0)
            direction = next[at_velocity] = kept[at_velocity] * o.momentum + direction;
        return {p - direction * now.rate, next};
    };
    return as_optimizer(std::move(method));
}

Optimizer adagrad(const AdagradOptions& o) {
    Method method{.name = "adagrad",
                  .rate = o.learning_rate,
                  .counts = true,
                  .maximize = o.maximize,
                  .weight_decay = o.weight_decay,
                  .initials = {o.initial_accumulator_value},
                  .change = {}};
    check_from_zero(method, "initial_accumulator_value", o.initial_accumulator_value);
    check_from_zero(method, "learning_rate_decay", o.learning_rate_decay);
    check_from_zero(method, "epsilon", o.epsilon);
    method.change = [o](const Tensor& p, const Tensor& g, const Tensors& kept,
                        const Now& now) -> Change {
        Factor rate = now.rate;
        if (o.learning_rate_decay != 0)
            rate = rate / ((now.number - 1.0) * o.learning_rate_decay + 1.0);
        const Tensor sum = kept[0] + square(g);
        return {p - (g / (root(sum) + o.epsilon)) * rate, {sum}};
    };
    return as_optimizer(std::move(method));
}

Optimizer lion(const LionOptions& o) {
    Method method{.name = "lion",
                  .rate = o.learning_rate,
                  .maximize = o.maximize,
                  .initials = {0.0},
                  .change = {}};
    check_weight_of_mean(method, "beta1", o.beta1);
    check_weight_of_mean(method, "beta2", o.beta2);
    check_from_zero(method, "weight_decay", o.weight_decay);
    method.change = [o](const Tensor& p, const Tensor& g, const Tensors& kept,
                        const Now& now) -> Change {
        const Tensor mixed = kept[0] * o.beta1 + g * (1 - o.beta1);
        Tensor direction = numpy::apply("sign", {mixed});
        if (o.weight_decay != 0) direction = direction + p * o.weight_decay;
        return {p - direction * now.rate, {kept[0] * o.beta2 + g * (1 - o.beta2)}};
    };
    return as_optimizer(std::move(method));
}

}  // namespace composit::nn
