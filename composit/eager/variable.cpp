#include "composit/eager/variable.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ir/body.h"
#include "composit/numpy/operators.h"

#include <algorithm>

namespace composit::eager {

struct Variable::State {
    Tensor tensor;
    std::optional<Array> value;
    bool is_parameter = false;
    std::optional<Tensor> gradient;
    // Parameters that it was made from, and what they held then: gradients are of that.
    std::vector<std::pair<std::shared_ptr<State>, Tensor>> sources;
};

namespace {

std::shared_ptr<Variable::State> state_of(Tensor tensor) {
    auto state = std::make_shared<Variable::State>();
    state->tensor = std::move(tensor);
    return state;
}

}  // namespace

Variable::Variable(Array value) : state_(state_of(ir::constant(std::move(value)))) {}
Variable::Variable(Tensor tensor) : state_(state_of(std::move(tensor))) {}

Variable Variable::parameter(Array value) {
    Variable made(std::move(value));
    made.state_->is_parameter = true;
    return made;
}

const Tensor& Variable::tensor() const { return state_->tensor; }
bool Variable::is_parameter() const { return state_->is_parameter; }

Array Variable::value() const {
    if (ir::is_constant(state_->tensor.node())) return ir::constant_value(state_->tensor.node());
    if (!state_->value) {
        state_->value = execute::evaluate({state_->tensor})[0];
        // Nothing goes back through it: its graph is not needed any more.
        if (state_->sources.empty()) state_->tensor = ir::constant(*state_->value);
    }
    return *state_->value;
}

Variable made(Tensor tensor, const std::vector<Variable>& operands) {
    Variable result(std::move(tensor));
    auto& sources = result.state_->sources;
    const auto add = [&](const std::shared_ptr<Variable::State>& source, const Tensor& held) {
        const bool is_there = std::any_of(sources.begin(), sources.end(), [&](const auto& known) {
            return known.first == source && known.second == held;
        });
        if (!is_there) sources.emplace_back(source, held);
    };
    for (const Variable& operand : operands) {
        if (operand.is_parameter()) add(operand.state_, operand.tensor());
        for (const auto& [source, held] : operand.state_->sources) add(source, held);
    }
    return result;
}

void Variable::backward() const {
    const auto& sources = state_->sources;
    user_check(!sources.empty(), "backward: the variable was made from no parameter. ",
               "Variable::parameter makes one.");
    user_check(state_->tensor.size() == 1, "backward: the variable has ", state_->tensor.size(),
               " elements. One is required.");
    std::vector<Tensor> inputs;
    for (const auto& [source, held] : sources) inputs.push_back(held);
    const std::vector<Tensor> gradients =
        nn::chain_rule({{state_->tensor, state_->tensor}}, inputs);
    for (size_t i = 0; i < sources.size(); ++i) {
        std::optional<Tensor>& gradient = sources[i].first->gradient;
        gradient = gradient ? *gradient + gradients[i] : gradients[i];
    }
}

std::optional<Tensor> Variable::gradient() const {
    user_check(is_parameter(), "gradient: this is no parameter. Variable::parameter makes one.");
    return state_->gradient;
}

void Variable::forget_gradient() const { state_->gradient.reset(); }

void Variable::assign(Array value) const {
    const Tensor& held = state_->tensor;
    user_check(is_parameter(), "assign: this is no parameter. Variable::parameter makes one.");
    user_check(value.dtype() == held.dtype() && value.shape() == held.shape(),
               "assign: ", value.dtype(), " of shape ", value.shape(), " for a parameter of ",
               held.type(), ". They must be the same.");
    state_->tensor = ir::constant(std::move(value));
}

void update(const std::vector<Variable>& parameters, const nn::OptimizerFunction& optimizer) {
    std::vector<Variable> chosen;
    std::vector<Tensor> tensors, gradients;
    for (const Variable& parameter : parameters) {
        const std::optional<Tensor> gradient = parameter.gradient();
        if (!gradient) continue;
        chosen.push_back(parameter);
        tensors.push_back(parameter.tensor());
        gradients.push_back(*gradient);
    }
    const std::vector<Tensor> updated = nn::optimize(tensors, gradients, optimizer);
    for (size_t i = 0; i < chosen.size(); ++i)
        chosen[i].assign(ir::constant_value(updated[i].node()));
}

}  // namespace composit::eager
