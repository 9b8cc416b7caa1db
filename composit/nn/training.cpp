// chain_rule and optimize.
#include "composit/nn/training.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
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

}  // namespace composit::nn
