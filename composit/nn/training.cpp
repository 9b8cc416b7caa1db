// chain_rule, optimize and the optimisers.
#include "composit/nn/training.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

namespace composit::nn {
namespace {

using Tensors = std::vector<Tensor>;

void check_counts(std::string_view function, const Tensors& parameters, const Tensors& gradients) {
    user_check(parameters.size() == gradients.size(), function, ": ", parameters.size(),
               " parameters and ", gradients.size(), " gradients. As many of each are required.");
}

void check_state(std::string_view function, size_t given, size_t required) {
    user_check(given == required, function, ": the state has ", given, " tensors. ", required,
               " are required: initial_state(parameters), or the state of the step before.");
}

Tensor zeros_of(const Tensor& x) { return numpy::zeros(x.shape(), x.dtype()); }

Tensor square(const Tensor& x) { return x * x; }

// The two moments' weights depend on the step: float64 scalars, rounded to the parameter's dtype at
// the end.
Tensor as(const Tensor& x, const Tensor& like) { return ops::astype(x, like.dtype()); }

Updated adam_step(const AdamOptions& o, bool is_decoupled, const Tensors& parameters,
                  const Tensors& gradients, const Tensors& state) {
    const std::string_view name = is_decoupled ? "adamw" : "adam";
    const size_t n = parameters.size();
    check_counts(name, parameters, gradients);
    check_state(name, state.size(), 2 * n + 1);
    Updated result;
    const Tensor step = state[0] + 1;
    const Tensor count = ops::astype(step, ir::DType::float64);
    const Tensor correction1 = 1.0 - numpy::apply("power", {o.beta1, count});
    const Tensor correction2 =
        numpy::apply("sqrt", {1.0 - numpy::apply("power", {o.beta2, count})});
    Tensors first, second;
    for (size_t i = 0; i < n; ++i) {
        Tensor p = parameters[i], g = gradients[i];
        if (is_decoupled)
            p = p * (1 - o.learning_rate * o.weight_decay);
        else if (o.weight_decay != 0)
            g = g + p * o.weight_decay;
        first.push_back(state[1 + i] * o.beta1 + g * (1 - o.beta1));
        second.push_back(state[1 + n + i] * o.beta2 + square(g) * (1 - o.beta2));
        const Tensor root = numpy::apply("sqrt", {second.back()});
        const Tensor scale = root / as(correction2, p) + o.epsilon;
        const Tensor rate = as(o.learning_rate / correction1, p);
        result.parameters.push_back(p - rate * (first.back() / scale));
    }
    result.state = {step};
    result.state.insert(result.state.end(), first.begin(), first.end());
    result.state.insert(result.state.end(), second.begin(), second.end());
    return result;
}

Optimizer adam_optimizer(const AdamOptions& options, bool is_decoupled) {
    return {[](const Tensors& parameters) {
                Tensors state{numpy::scalar(ir::DType::int64, 0, "step")};
                for (int moment = 0; moment < 2; ++moment)
                    for (const Tensor& p : parameters) state.push_back(zeros_of(p));
                return state;
            },
            [options, is_decoupled](const Tensors& parameters, const Tensors& gradients,
                                    const Tensors& state) {
                return errors_as(is_decoupled ? "adamw" : "adam", [&] {
                    return adam_step(options, is_decoupled, parameters, gradients, state);
                });
            }};
}

}  // namespace

std::vector<Tensor> chain_rule(const std::vector<std::pair<Tensor, Tensor>>& incoming,
                               const std::vector<Tensor>& inputs) {
    Tensors outputs, cotangents;
    for (const auto& [output, gradient] : incoming) {
        outputs.push_back(output);
        if (output == gradient) {
            const Tensor one = numpy::scalar(output.dtype(), 1);
            cotangents.push_back(ops::full(output.shape(), one));
            continue;
        }
        user_check(gradient.shape() == output.shape(),
                   "chain_rule: the incoming gradient has shape ", gradient.shape(),
                   ", its output has shape ", output.shape(), ". They must be equal.");
        user_check<TypeError>(gradient.type().weak || gradient.dtype() == output.dtype(),
                              "chain_rule: the incoming gradient is ", gradient.dtype(),
                              ", its output is ", output.dtype(), ". They must be equal.");
        cotangents.push_back(ops::astype(gradient, output.dtype()));
    }
    return errors_as("chain_rule", [&] { return transforms::vjp(outputs, cotangents, inputs); });
}

std::vector<Tensor> optimize(const std::vector<Tensor>& parameters,
                             const std::vector<Tensor>& gradients,
                             const OptimizerFunction& optimizer, const EvaluateFunction& evaluate) {
    check_counts("optimize", parameters, gradients);
    Tensors updated;
    for (size_t i = 0; i < parameters.size(); ++i)
        updated.push_back(optimizer(parameters[i], gradients[i]));
    const auto values = evaluate ? evaluate(updated) : execute::evaluate(updated);
    user_check(values.size() == updated.size(), "optimize: evaluate returned ", values.size(),
               " values for ", updated.size(), " parameters. As many of each are required.");
    Tensors result;
    for (size_t i = 0; i < values.size(); ++i)
        result.push_back(ir::constant(values[i], parameters[i].name()));
    return result;
}

OptimizerFunction sgd_optimizer(double learning_rate) {
    return [learning_rate](const Tensor& parameter, const Tensor& gradient) {
        return errors_as("sgd_optimizer", [&] { return parameter - gradient * learning_rate; });
    };
}

Optimizer sgd(const SgdOptions& options) {
    user_check(!options.nesterov || options.momentum > 0,
               "sgd: Nesterov momentum requires a momentum, which is ", options.momentum, ".");
    const auto initial = [options](const Tensors& parameters) {
        Tensors state;
        if (options.momentum != 0)
            for (const Tensor& p : parameters) state.push_back(zeros_of(p));
        return state;
    };
    const auto step = [o = options](const Tensors& parameters, const Tensors& gradients,
                                    const Tensors& state) {
        check_counts("sgd", parameters, gradients);
        check_state("sgd", state.size(), o.momentum != 0 ? parameters.size() : 0);
        Updated result;
        errors_as("sgd", [&] {
            for (size_t i = 0; i < parameters.size(); ++i) {
                const Tensor& p = parameters[i];
                Tensor g = gradients[i];
                if (o.weight_decay != 0) g = g + p * o.weight_decay;
                if (o.momentum != 0) {
                    const Tensor velocity = state[i] * o.momentum + g;
                    result.state.push_back(velocity);
                    g = o.nesterov ? g + velocity * o.momentum : velocity;
                }
                result.parameters.push_back(p - g * o.learning_rate);
            }
        });
        return result;
    };
    return {initial, step};
}

Optimizer adam(const AdamOptions& options) { return adam_optimizer(options, false); }
Optimizer adamw(const AdamOptions& options) { return adam_optimizer(options, true); }

}  // namespace composit::nn
