// composit/nn/training.h, optimizers.h, composing.h and schedules.h, into module composit._core.nn.
#include "casters.h"
#include "cell.h"
#include "composit/base/error.h"
#include "composit/eager/versions.h"
#include "composit/nn/budget.h"
#include "composit/nn/composing.h"
#include "composit/nn/remat.h"
#include "composit/nn/training.h"
#include "composit/transforms/transforms.h"
#include "content.h"
#include "flags.h"
#include "location.h"
#include "nn.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>

namespace composit::python {
namespace {

using Integers = std::vector<int64_t>;
using Tensors = std::vector<Tensor>;

nn::Schedule schedule_from(nb::callable function) {
    return nn::Schedule([function](const Tensor& step) { return tensor_from(function(step)); });
}

// A number, a tensor, a schedule, or a function of the step's number.
nn::LearningRate learning_rate_from(nb::handle value) {
    if (nb::isinstance<nn::Schedule>(value)) return nb::cast<nn::Schedule>(value);
    if (PyFloat_Check(value.ptr()) || PyLong_Check(value.ptr())) return number_from(value);
    if (PyCallable_Check(value.ptr())) return schedule_from(nb::borrow<nb::callable>(value));
    if (!has_attribute(value, "dtype")) return number_from(value);
    return tensor_from(value);
}

void bind_schedules(nb::module_& module) {
    const nb::call_guard<Located> located;
    nb::class_<nn::Schedule>(module, "Schedule",
                             "A learning rate by the step's number: of an integer a number, of a "
                             "tensor a tensor.")
        .def("__init__",
             [](nn::Schedule* self, nb::callable function) {
                 new (self) nn::Schedule(schedule_from(std::move(function)));
             })
        .def(
            "__call__",
            [](const nn::Schedule& self, nb::handle step) -> nb::object {
                if (PyLong_Check(step.ptr()) && !PyBool_Check(step.ptr()))
                    return nb::float_(self.at(integer_from(step)));
                return nb::cast(self(tensor_from(step)));
            },
            located);
    module.def("constant_schedule", &nn::constant_schedule);
    module.def("step_schedule", &nn::step_schedule);
    module.def("multi_step_schedule", &nn::multi_step_schedule);
    module.def("exponential_schedule", &nn::exponential_schedule);
    module.def("cosine_schedule", &nn::cosine_schedule);
    module.def("cosine_restarts_schedule", &nn::cosine_restarts_schedule);
    module.def("linear_schedule", &nn::linear_schedule);
    module.def("polynomial_schedule", &nn::polynomial_schedule);
    module.def("one_cycle_schedule", [](double learning_rate, int64_t steps, double warm_up,
                                        TruthFlag linear, double division, double final_division,
                                        TruthFlag three_phases) {
        return nn::one_cycle_schedule(learning_rate, steps,
                                      {warm_up, linear, division, final_division, three_phases});
    });
    module.def("chained_schedule", &nn::chained_schedule);
    module.def("sequential_schedule", &nn::sequential_schedule);
}

void bind_optimizers(nb::module_& module) {
    const nb::call_guard<Located> located;
    nb::class_<nn::Optimizer>(module, "Optimizer", "A pure optimiser: state in, state out.")
        .def(
            "initial_state",
            [](const nn::Optimizer& self, const Tensors& parameters) {
                return self.initial_state(parameters);
            },
            located)
        .def(
            "step",
            [](const nn::Optimizer& self, const Tensors& parameters, const Tensors& gradients,
               const Tensors& state) {
                nn::Updated updated = self.step(parameters, gradients, state);
                return std::make_pair(updated.parameters, updated.state);
            },
            located);
    module.def("sgd", [](nb::handle learning_rate, double momentum, double weight_decay,
                         TruthFlag nesterov, double dampening, TruthFlag maximize) {
        return nn::sgd({learning_rate_from(learning_rate), momentum, weight_decay, nesterov,
                        dampening, maximize});
    });
    const auto adam = [&](const char* name, auto function) {
        module.def(name,
                   [function](nb::handle learning_rate, double beta1, double beta2, double epsilon,
                              double weight_decay, TruthFlag amsgrad, TruthFlag maximize) {
                       return function({learning_rate_from(learning_rate), beta1, beta2, epsilon,
                                        weight_decay, amsgrad, maximize});
                   });
    };
    adam("adam", nn::adam);
    adam("adamw", nn::adamw);
    module.def("rmsprop",
               [](nb::handle learning_rate, double alpha, double epsilon, double weight_decay,
                  double momentum, TruthFlag centered, TruthFlag maximize) {
                   return nn::rmsprop({learning_rate_from(learning_rate), alpha, epsilon,
                                       weight_decay, momentum, centered, maximize});
               });
    module.def("adagrad",
               [](nb::handle learning_rate, double learning_rate_decay, double weight_decay,
                  double initial_accumulator_value, double epsilon, TruthFlag maximize) {
                   return nn::adagrad({learning_rate_from(learning_rate), learning_rate_decay,
                                       weight_decay, initial_accumulator_value, epsilon, maximize});
               });
    module.def("lion", [](nb::handle learning_rate, double beta1, double beta2, double weight_decay,
                          TruthFlag maximize) {
        return nn::lion({learning_rate_from(learning_rate), beta1, beta2, weight_decay, maximize});
    });
}

void bind_clipping(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("clip_by_value", &nn::clip_by_value, located);
    module.def("global_norm", &nn::global_norm, located);
    module.def(
        "clip_by_global_norm",
        [](const Tensors& gradients, double maximum, double order) {
            nn::Clipped clipped = nn::clip_by_global_norm(gradients, maximum, order);
            return std::make_pair(clipped.gradients, clipped.norm);
        },
        located);
}

void bind_composing(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("clipping", &nn::clipping);
    module.def("accumulating", &nn::accumulating);
    module.def("loss_scaling", [](const nn::Optimizer& optimizer, double initial, double growth,
                                  double backoff, int64_t interval) {
        return nn::loss_scaling(optimizer, {initial, growth, backoff, interval});
    });
    module.def("scale_loss", &nn::scale_loss, located);
    module.def("cast_floating", &nn::cast_floating, located);
}

// Choices are None (all calls) or lists of numbers.
void bind_budget(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("bytes_within", &nn::bytes_within);
    module.def(
        "choose_within",
        [](int64_t memory, const nb::callable& planned, const nb::callable& compiled,
           const std::string& calls) {
            const auto asked = [](const nb::callable& function, const nn::Again& again) {
                if (!again) return function(nb::none());
                return function(std::vector<int64_t>(again->begin(), again->end()));
            };
            const auto plan = [&](const nn::Again& again) {
                auto [bytes, kept] =
                    nb::cast<std::pair<int64_t, std::map<int64_t, int64_t>>>(asked(planned, again));
                return nn::Planned{bytes, std::move(kept)};
            };
            nn::choose_within(
                memory, plan,
                [&](const nn::Again& again) { return nb::cast<int64_t>(asked(compiled, again)); },
                calls);
        },
        located);
}

}  // namespace

void bind_nn_training(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "remat",
        [](const nn::TensorFunction& function, const Tensors& arguments, const std::string& name) {
            return nn::remat(function, name)(arguments);
        },
        located);
    bind_budget(module);
    bind_schedules(module);
    bind_optimizers(module);
    bind_clipping(module);
    bind_composing(module);
    module.def(
        "open_for_derivatives", &transforms::open_for_derivatives,
        "The tensors without calls of composed functions, as chain_rule differentiates them.");
    module.def(
        "read_by",
        [](const nb::object& inputs, const Tensors& outputs) -> nb::object {
            if (!PySequence_Check(inputs.ptr())) return inputs;
            nb::list read;
            for (nb::handle input : inputs) {
                if (!is_tensor(input)) {
                    read.append(input);
                    continue;
                }
                const auto& lazy = content_of<LazyTensor>(input);
                const Tensor found = eager::Versions::read(*lazy.cell(), outputs, "chain_rule");
                read.append(found == lazy.tensor() ? nb::borrow(input) : wrap_copy(found));
            }
            return read;
        },
        nb::arg("inputs").none(), nb::arg("outputs"), located,
        "Inputs as they were when the outputs read them (composit/eager/versions.h).");
    module.def(
        "chain_rule",
        [](const Tensors& outputs, const Tensors& gradients, const Tensors& inputs) {
            user_check(outputs.size() == gradients.size(), "chain_rule: ", outputs.size(),
                       " outputs and ", gradients.size(),
                       " incoming gradients. One gradient for each output is required.");
            std::vector<std::pair<Tensor, Tensor>> incoming;
            for (size_t i = 0; i < outputs.size(); ++i)
                incoming.emplace_back(outputs[i], gradients[i]);
            return nn::chain_rule(incoming, inputs);
        },
        located);
}

}  // namespace composit::python
