// What rules share, descent without further state, and training in C++.
#include "composit/aten/optimizers.h"

#include "composit/aten/rules.h"
#include "composit/base/error.h"
#include "composit/execute/execute.h"

namespace composit::aten {

Tensor held(const State& state, std::string_view name, const Tensor& x) {
    const auto found = state.find(name);
    return found == state.end() ? numpy::zeros(x.shape(), x.dtype()) : found->second;
}

double counted(KeptNumbers& kept) {
    const auto found = kept.find("step");
    const double count = (found == kept.end() ? 0.0 : found->second.value()) + 1;
    kept.insert_or_assign("step", count);
    return count;
}

Tensor decayed(const Tensor& x, const Tensor& gradient, bool maximize, double weight_decay) {
    const Tensor turned = maximize ? -gradient : gradient;
    return weight_decay != 0 ? turned + x * weight_decay : turned;
}

Rule sgd(const SgdOptions& o) {
    return {{"lr"},
            {},
            {"momentum_buffer"},
            [](const Number& rate, KeptNumbers&) -> Numbers { return {rate}; },
            [o](const Tensor& x, const Tensor& given, State& state, const Numbers& numbers) {
                Tensor gradient = decayed(x, given, o.maximize, o.weight_decay);
                if (o.momentum != 0) {
                    const auto before = state.find("momentum_buffer");
                    const Tensor kept = before == state.end() ? gradient
                                                              : before->second * o.momentum +
                                                                    gradient * (1 - o.dampening);
                    state["momentum_buffer"] = kept;
                    gradient = o.nesterov ? gradient + kept * o.momentum : kept;
                }
                return x - gradient * numbers[0];
            }};
}

Optimizer::Optimizer(std::vector<Tensor> parameters, Rule rule, double rate)
    : learning_rate(rate),
      parameters_(std::move(parameters)),
      rule_(std::move(rule)),
      states_(parameters_.size()),
      kept_(parameters_.size()) {
    user_check(!parameters_.empty(), "Optimizer: an empty list of parameters. One is required.");
    user_check(rate >= 0, "Optimizer: the learning rate is ", rate,
               ". A number from 0 is required.");
    for (size_t i = 0; i < parameters_.size(); ++i)
        user_check<TypeError>(ir::is_floating(parameters_[i].dtype()), "Optimizer: parameter ", i,
                              " is ", parameters_[i].dtype(),
                              ". A real floating dtype is required.");
}

void Optimizer::step(const std::vector<Tensor>& gradients) {
    user_check(gradients.size() == parameters_.size(), "Optimizer: ", gradients.size(),
               " gradients of ", parameters_.size(), " parameters. One of each is required.");
    for (size_t i = 0; i < gradients.size(); ++i)
        user_check(gradients[i].type() == parameters_[i].type(), "Optimizer: gradient ", i, " is ",
                   gradients[i].type(), ", its parameter ", parameters_[i].type(),
                   ". They must be equal.");
    // All that is kept, in one list, is computed at once.
    std::vector<Tensor> made;
    for (size_t i = 0; i < gradients.size(); ++i) {
        const Tensor& x = parameters_[i];
        Numbers
            constants;  // and not parts of the graph: the plan of the step before is found again
        for (const Number& number : rule_.numbers(learning_rate, kept_[i]))
            constants.emplace_back(numpy::scalar(x.dtype(), number.value()));
        made.push_back(rule_.update(x, gradients[i], states_[i], constants));
        for (const auto& [name, value] : states_[i]) made.push_back(value);
    }
    const std::vector<ir::Array> values = execute::evaluate(made);
    size_t next = 0;
    for (size_t i = 0; i < gradients.size(); ++i) {
        parameters_[i] = numpy::asarray(values[next++], parameters_[i].name());
        for (auto& [name, value] : states_[i]) value = numpy::asarray(values[next++], name);
    }
}

const State& Optimizer::state(size_t number) const {
    user_check(number < states_.size(), "Optimizer: parameter ", number, " of ", states_.size(),
               ". A smaller number is required.");
    return states_[number];
}

}  // namespace composit::aten
