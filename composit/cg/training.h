// Gradient descent on a module's parameters, each step one compiled program.
//
//   cg::Training training(network, nn::cross_entropy, nn::adam());
//   double loss = training.step({images}, {labels});
#pragma once

#include "composit/cg/module.h"
#include "composit/execute/execute.h"
#include "composit/nn/optimizers.h"

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace composit::cg {

class Training {
  public:
    // A number for the module's result and the targets.
    using Loss = std::function<Tensor(const Tensor& result, const Tensors& targets)>;

    // The module must outlive the training, which changes its parameters.
    Training(const Module& module, Loss loss, nn::Optimizer optimizer,
             execute::Options options = {});
    // For a function of the result and one tensor of targets, such as nn's losses with defaults.
    template <class F>
        requires(std::invocable<F, const Tensor&, const Tensor&> && !std::convertible_to<F, Loss>)
    Training(const Module& module, F loss, nn::Optimizer optimizer, execute::Options options = {})
        : Training(module, of_one_target(module, std::move(loss)), std::move(optimizer),
                   std::move(options)) {}

    // One step with a batch: a tensor for each of the module's inputs, and the targets. Returns the
    // loss before it. Batches of equal shapes and dtypes share a program. ValueError where inputs
    // are missing, where the module uses no parameters; TypeError unless the loss is one number.
    double step(const Tensors& inputs, const Tensors& targets);

    // Those of a floating dtype: the module's parameters(), then others that its call uses in the
    // first step. A later step that uses one more is refused (ValueError).
    [[nodiscard]] const std::vector<InputRef>& parameters() const { return parameters_; }

  private:
    template <class F>
    static Loss of_one_target(const Module& module, F loss) {
        return [name = module.name(), loss = std::move(loss)](const Tensor& result,
                                                              const Tensors& targets) -> Tensor {
            check_one_target(name, targets.size());
            return loss(result, targets[0]);
        };
    }
    static void check_one_target(const std::string& name, size_t count);
    void begin(const Tensors& inputs);
    [[nodiscard]] Tensors updated(const Tensors& arguments) const;
    const execute::Compiled& program(const Tensors& arguments);

    const Module& module_;
    Loss loss_;
    nn::Optimizer optimizer_;
    execute::Options options_;
    std::vector<InputRef> parameters_, fixed_;
    Tensors fixed_values_;
    Tensors state_;
    std::map<std::string, execute::Compiled> programs_;  // by shapes and dtypes of the arguments
};

}  // namespace composit::cg
