// Derivatives and logarithms of functions, as modules of one operator.
#include "composit/cg/derived.h"

#include "composit/cg/jacobians.h"
#include "composit/cg/logspace.h"
#include "composit/cg/node_state.h"
#include "composit/ir/body.h"

#include <algorithm>

namespace composit::cg {
namespace {

using Compute =
    std::function<Tensor(const Tensors& placeholders, const std::vector<InputRef>& parameters)>;

// A module with the inputs and parameters of `of`, whose one operator is `compute`, between
// placeholders: how the arguments were made does not matter to it. Parameters of modules that
// submodules() does not tell of turn out to be used in the call, and are operands as well.
BuiltModule made_of(const AsTensors& of, const std::string& name, const Compute& compute) {
    const auto call = [compute, name, known = of.parameters](const Module&,
                                                             const Nodes& inputs) -> Nodes {
        for (std::vector<InputRef> parameters = known;;) {
            const auto apply = [compute, parameters](const Tensors& given) {
                Tensors apart;
                for (const Tensor& x : given) apart.push_back(ir::input("x", x.dtype(), x.shape()));
                return ir::substitute({compute(apart, parameters)}, apart, given)[0];
            };
            try {
                Nodes leaves = inputs;
                for (const InputRef& parameter : parameters) leaves.emplace_back(parameter);
                return {op::apply(name, apply, leaves)};
            } catch (const HiddenParameter& hidden) {
                // One that is an operand already is hidden from a call around this one.
                if (std::ranges::count(parameters, hidden.parameter()) > 0) throw;
                parameters.push_back(hidden.parameter());
            }
        }
    };
    return {name, call, of.inputs, of.parameters};
}

}  // namespace

AsTensors as_tensors(std::shared_ptr<const Module> module) {
    const std::vector<InputRef> inputs = module->inputs(), parameters = module->parameters();
    const std::string name = module->name();
    const auto apply = [module = std::move(module), count = inputs.size()](
                           const Tensors& tensors, const std::vector<InputRef>& given) {
        const auto first = tensors.begin() + static_cast<int64_t>(count);
        std::vector<std::pair<InputRef, Tensor>> values;
        for (size_t i = 0; i < given.size(); ++i)
            values.emplace_back(given[i], first[static_cast<int64_t>(i)]);
        return module->apply(values, Tensors(tensors.begin(), first), true);
    };
    return {name, inputs, parameters, apply};
}

AsTensors as_tensors(std::shared_ptr<const Operator> function) {
    const std::vector<InputRef> inputs = function->inputs();
    const std::string name = function->name();
    return {
        name, inputs, {}, [function = std::move(function)](const Tensors& tensors, const auto&) {
            return function->apply(tensors);
        }};
}

BuiltModule gradfn(const AsTensors& of, const InputRef& input) {
    std::vector<InputRef> leaves = of.inputs;
    leaves.insert(leaves.end(), of.parameters.begin(), of.parameters.end());
    user_check(input != nullptr, of.name,
               ": the input of the derivative is empty. An input or a parameter is required.");
    const auto found = std::ranges::find(leaves, input);
    user_check(found != leaves.end(), of.name, ": the derivative with respect to '", input->name(),
               "'. An input or a parameter of its own is required.");
    const auto place = static_cast<size_t>(found - leaves.begin());
    const auto compute = [of, place, name = input->name()](
                             const Tensors& tensors, const std::vector<InputRef>& parameters) {
        const Tensor result = of.apply(tensors, parameters);
        const auto check = [&](bool is_smooth, const std::string& what, ir::DType dtype,
                               const char* required) {
            user_check<TypeError>(is_smooth, of.name, " has no derivative with respect to '", name,
                                  "': the ", what, " is ", dtype, ". A ", required,
                                  " dtype is required.");
        };
        const ir::DType dtype = tensors[place].dtype();
        check(ir::is_inexact(dtype), "input '" + name + "'", dtype, "floating or complex");
        check(ir::is_floating(result.dtype()), "result", result.dtype(), "floating");
        return jacobians(result, {tensors[place]})[0];
    };
    return made_of(of, "D" + of.name + "#" + input->name(), compute);
}

BuiltModule logspace(const AsTensors& of) {
    return made_of(of, "log " + of.name, [of](const Tensors& tensors, const auto& parameters) {
        return logspace({of.apply(tensors, parameters)})[0];
    });
}

}  // namespace composit::cg
