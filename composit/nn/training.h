// Gradients, and one evaluated step; optimisers with state are in optimizers.h.
#pragma once

#include "composit/execute/execute.h"
#include "composit/ir/node.h"
#include "composit/nn/optimizers.h"

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

}  // namespace composit::nn
