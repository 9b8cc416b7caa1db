// Gradients and optimisers. Everything is a pure function: new parameters and new state come out.
#pragma once

#include "composit/execute/execute.h"
#include "composit/ir/node.h"

#include <functional>
#include <utility>
#include <vector>

namespace composit::nn {

using ir::Tensor;

// Gradients with respect to `inputs` for incoming gradients of outputs: (output, gradient) pairs.
// An output paired with itself (the same node and output index) means ones: {{loss, loss}} is
// torch's loss.backward(). Gradients have their output's shape and dtype (ValueError, TypeError).
// Inputs that nothing depends on get zeros.
[[nodiscard]] std::vector<Tensor> chain_rule(const std::vector<std::pair<Tensor, Tensor>>& incoming,
                                             const std::vector<Tensor>& inputs);

// ----- one step, evaluated: optimize and functions of one parameter
using OptimizerFunction = std::function<Tensor(const Tensor& parameter, const Tensor& gradient)>;
using EvaluateFunction = std::function<std::vector<ir::Array>(const std::vector<Tensor>& outputs)>;
// The updated parameters, evaluated together, as new leaves under the old names.
[[nodiscard]] std::vector<Tensor> optimize(const std::vector<Tensor>& parameters,
                                           const std::vector<Tensor>& gradients,
                                           const OptimizerFunction& optimizer,
                                           const EvaluateFunction& evaluate = {});
// parameter - learning_rate * gradient
[[nodiscard]] OptimizerFunction sgd_optimizer(double learning_rate);

// ----- optimisers with state, torch's formulas; lazy: nothing is evaluated
struct Updated {
    std::vector<Tensor> parameters, state;
};
struct Optimizer {
    // The state before the first step: zeros, in an order of the optimiser's own.
    std::function<std::vector<Tensor>(const std::vector<Tensor>& parameters)> initial_state;
    // ValueError when the counts of the three do not fit together.
    std::function<Updated(const std::vector<Tensor>& parameters,
                          const std::vector<Tensor>& gradients, const std::vector<Tensor>& state)>
        step;
};

struct SgdOptions {
    double learning_rate = 1e-3, momentum = 0, weight_decay = 0;
    bool nesterov = false;  // needs momentum (ValueError)
};
// State: one velocity per parameter (none without momentum).
[[nodiscard]] Optimizer sgd(const SgdOptions& options);

struct AdamOptions {
    double learning_rate = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
};
// Adam (Kingma and Ba 2015); weight_decay is added to the gradient. State: the number of steps
// (int64), then the first moments, then the second.
[[nodiscard]] Optimizer adam(const AdamOptions& options = {});
// AdamW (Loshchilov and Hutter 2019): weight decay beside the gradient. torch's default is 0.01.
[[nodiscard]] Optimizer adamw(const AdamOptions& options = {.weight_decay = 0.01});

}  // namespace composit::nn
