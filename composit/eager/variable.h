// Variables: eager in manners, as PyTorch's tensors are, over graphs that are computed when a value
// is asked for.
//
//     Variable w = Variable::parameter(initial);
//     Variable loss = apply([](const Tensor& w, const Tensor& x) { return sum(w * x); }, w, x);
//     loss.backward();
//     update({w}, nn::sgd_optimizer(0.1));
#pragma once

#include "composit/ir/array.h"
#include "composit/ir/node.h"
#include "composit/nn/training.h"

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace composit::eager {

using ir::Array;
using ir::Tensor;

// Copies are the same variable. Not to be used by two threads at once.
class Variable {
  public:
    Variable(Array value);    // NOLINT: an array is a variable
    Variable(Tensor tensor);  // NOLINT: so is a tensor
    // One whose gradient is wanted.
    [[nodiscard]] static Variable parameter(Array value);

    [[nodiscard]] const Tensor& tensor() const;  // the node it holds now
    [[nodiscard]] Array value() const;           // computed at most once
    [[nodiscard]] bool is_parameter() const;

    // Adds to the gradients of the parameters that this variable of one element was made from.
    // ValueError where it was made from none, or has another number of elements.
    void backward() const;
    // The gradients that were added up, where there are any. ValueError for what is no parameter.
    [[nodiscard]] std::optional<Tensor> gradient() const;
    void forget_gradient() const;
    // The parameter becomes other values, of its dtype and shape; gradients stay as they are.
    void assign(Array value) const;

    struct State;

  private:
    explicit Variable(std::shared_ptr<State> state) : state_(std::move(state)) {}
    friend Variable made(Tensor tensor, const std::vector<Variable>& operands);

    std::shared_ptr<State> state_;
};

// The variable of a tensor that was made from operands' tensors.
[[nodiscard]] Variable made(Tensor tensor, const std::vector<Variable>& operands);

// What a function of tensors makes of variables.
template <class Function, class... Variables>
[[nodiscard]] Variable apply(const Function& function, const Variables&... variables) {
    static_assert((std::is_same_v<Variables, Variable> && ...));
    return made(function(variables.tensor()...), {variables...});
}

// One step of all parameters that have gradients, computed at once.
void update(const std::vector<Variable>& parameters, const nn::OptimizerFunction& optimizer);

}  // namespace composit::eager
