// Gradient descent on a module's parameters: one program for parameters, state and batch.
#include "composit/cg/training.h"

#include "composit/base/error.h"
#include "composit/functional/functional.h"
#include "composit/numpy/manipulation.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace composit::cg {
namespace {

// Values in place of what computes them, so that a step's graph begins here.
Tensors computed(const Tensors& tensors, const execute::Options& options) {
    Tensors constants;
    for (const Array& array : execute::evaluate(tensors, options))
        constants.push_back(ir::constant(array));
    return constants;
}

const ir::Node* node_of(const Tensor& tensor) { return &tensor.node(); }

std::string signature(const Tensors& tensors) {
    std::ostringstream text;
    for (const Tensor& tensor : tensors) {
        text << tensor.dtype();
        for (int64_t length : tensor.shape()) text << ' ' << length;
        text << ';';
    }
    return text.str();
}

}  // namespace

Training::Training(const Module& module, Loss loss, nn::Optimizer optimizer,
                   execute::Options options)
    : module_(module),
      loss_(std::move(loss)),
      optimizer_(std::move(optimizer)),
      options_(std::move(options)) {}

void Training::check_one_target(const std::string& name, size_t count) {
    user_check(count == 1, "Training: ", count, " tensors of targets are given to ", name,
               ", whose loss takes one. One is required.");
}

void Training::begin(const Tensors& inputs) {
    std::vector<InputRef> known = module_.parameters();
    for (const Node& node : module_.called(inputs).nodes()) {
        const InputRef& input = node.input();
        if (input && input->kind() == Input::Kind::parameter &&
            std::ranges::find(known, input) == known.end())
            known.push_back(input);
    }
    for (const InputRef& one : known)
        (ir::is_inexact(one->value().dtype()) ? parameters_ : fixed_).push_back(one);
    user_check(!parameters_.empty(), "Training: ", module_.name(),
               " uses no parameters of a floating dtype. At least one is required.");
    Tensors values;
    for (const InputRef& parameter : parameters_) values.push_back(parameter->value());
    state_ = computed(optimizer_.initial_state(values), options_);
}

// The loss, then the new parameters, then the new state, for parameters, state, inputs, targets.
Tensors Training::updated(const Tensors& arguments) const {
    const auto from = [&arguments](size_t first, size_t count) {
        const auto begin = arguments.begin() + static_cast<int64_t>(first);
        return Tensors(begin, begin + static_cast<int64_t>(count));
    };
    const size_t count = parameters_.size(), taken = count + state_.size();
    const size_t inputs = module_.inputs().size();
    const Tensors state = from(count, state_.size()), batch = from(taken, inputs);
    const Tensors targets = from(taken + inputs, arguments.size() - taken - inputs);
    const composit::Function loss = [&](const Tensors& parameters) -> Tensors {
        std::vector<std::pair<InputRef, Tensor>> bound;
        for (size_t i = 0; i < count; ++i) bound.emplace_back(parameters_[i], parameters[i]);
        return {loss_(module_.apply(bound, batch, true), targets)};
    };
    std::vector<int64_t> every(count);
    std::iota(every.begin(), every.end(), 0);
    const Tensors parameters = from(0, count);
    const Gradients found = value_and_gradients(loss, parameters, every);
    const nn::Updated made = optimizer_.step(parameters, found.gradients, state);
    Tensors results = {numpy::astype(found.values.at(0), DType::float64)};
    results.insert(results.end(), made.parameters.begin(), made.parameters.end());
    results.insert(results.end(), made.state.begin(), made.state.end());
    return results;
}

const execute::Compiled& Training::program(const Tensors& arguments) {
    // Integers and bools are constants of programs.
    Tensors values;
    for (const InputRef& one : fixed_) values.push_back(one->value());
    if (!std::ranges::equal(values, fixed_values_, {}, node_of, node_of)) programs_.clear();
    fixed_values_ = std::move(values);
    const std::string key = signature(arguments);
    const auto known = programs_.find(key);
    if (known != programs_.end()) return known->second;
    const composit::Function step = [this](const Tensors& given) { return updated(given); };
    return programs_
        .emplace(key, compile_function(step, arguments, options_, "train_" + module_.name()))
        .first->second;
}

double Training::step(const Tensors& inputs, const Tensors& targets) {
    user_check(inputs.size() == module_.inputs().size(), "Training: ", inputs.size(),
               " tensors are given to ", module_.name(), ", which has ", module_.inputs().size(),
               " inputs. One for each is required.");
    if (parameters_.empty()) begin(inputs);
    Tensors arguments;
    for (const InputRef& parameter : parameters_) arguments.push_back(parameter->value());
    for (const Tensors& more : {state_, inputs, targets})
        arguments.insert(arguments.end(), more.begin(), more.end());
    const std::vector<Array> made = program(arguments)(execute::evaluate(arguments, options_));
    size_t next = 1;
    for (const InputRef& parameter : parameters_) parameter->update(ir::constant(made[next++]));
    for (Tensor& state : state_) state = ir::constant(made[next++]);
    return *made[0].data_as<double>();
}

}  // namespace composit::cg
