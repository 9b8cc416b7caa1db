// Rules of optimisers, made of a parameter group's options: composit/aten/optimizers.h.
#include "aten.h"
#include "aten_numbers.h"
#include "composit/aten/line_search.h"
#include "composit/aten/optimizers.h"
#include "flags.h"
#include "location.h"
#include "torch_objects.h"

#include <nanobind/stl/string_view.h>

#include <string>
#include <unordered_map>

namespace composit::python {
namespace {

using aten::KeptNumbers;
using aten::Number;
using aten::Numbers;
using aten::Rule;
using aten::State;

// A name as the one object of Python's that dictionaries find quickly.
PyObject* interned(const std::string& name) {
    static std::unordered_map<std::string, PyObject*> known;
    PyObject*& held = known[name];
    if (!held) held = PyUnicode_InternFromString(name.c_str());
    if (!held) throw nb::python_error();
    return held;
}

// A parameter group of torch.optim's: names and values.
class Group {
  public:
    explicit Group(nb::dict values) : values_(std::move(values)) {}
    [[nodiscard]] nb::handle at(const char* name) const {
        return PyDict_GetItemString(values_.ptr(), name);
    }
    [[nodiscard]] double number(const char* name) const { return number_from(values_[name]); }
    [[nodiscard]] bool flag(const char* name) const { return truth_of(values_[name]); }
    [[nodiscard]] double part(const char* name, size_t index) const {
        return number_from(values_[name][index]);
    }

  private:
    nb::dict values_;
};

// The numbers of a step, by their names; what is kept is read from the state and written as
// objects of class `kept`, past what the class of `state` does when it is read.
nb::dict numbers(const Rule& rule, nb::handle rate, nb::dict state, nb::handle kept) {
    KeptNumbers before;
    for (const std::string& name : rule.kept_names)
        if (PyObject* const found = PyDict_GetItem(state.ptr(), interned(name)))
            before.insert_or_assign(name, step_number(found));
    const Numbers made = rule.numbers(step_number(rate), before);
    for (const std::string& name : rule.kept_names) {
        const Number& value = before.at(name);
        nb::object object = step_number_object(value);
        if (value.is_known()) object = kept(object);
        if (PyDict_SetItem(state.ptr(), interned(name), object.ptr()) < 0) throw nb::python_error();
    }
    nb::dict named;
    for (size_t i = 0; i < made.size(); ++i) {
        const nb::object object = step_number_object(made[i]);
        if (PyDict_SetItem(named.ptr(), interned(rule.names[i]), object.ptr()) < 0)
            throw nb::python_error();
    }
    return named;
}

// The new parameter; tensors of the state are replaced by new ones.
Tensor updated(const Rule& rule, const Tensor& x, const Tensor& gradient, nb::dict state,
               nb::dict named) {
    State before;
    for (const auto& [name, value] : state)
        if (is_tensor(value)) before.emplace(nb::cast<std::string>(name), tensor_from(value));
    Numbers given;
    for (const std::string& name : rule.names) given.push_back(step_number(named[name.c_str()]));
    State after = before;
    const Tensor made = rule.update(x, gradient, after, given);
    for (const std::string& name : rule.state_names) {
        const auto value = after.find(name), held = before.find(name);
        if (value == after.end()) continue;
        if (held == before.end() || !(held->second == value->second))
            state[name.c_str()] = wrap(value->second);
    }
    return made;
}

Rule sgd(const Group& g) {
    return aten::sgd({.momentum = g.number("momentum"),
                      .dampening = g.number("dampening"),
                      .weight_decay = g.number("weight_decay"),
                      .nesterov = g.flag("nesterov"),
                      .maximize = g.flag("maximize")});
}

Rule adam(const Group& g) {
    return aten::adam({.beta1 = g.part("betas", 0),
                       .beta2 = g.part("betas", 1),
                       .eps = g.number("eps"),
                       .weight_decay = g.number("weight_decay"),
                       .amsgrad = g.flag("amsgrad"),
                       .maximize = g.flag("maximize"),
                       .decoupled_weight_decay = g.flag("decoupled_weight_decay")});
}

Rule nadam(const Group& g) {
    return aten::nadam({.beta1 = g.part("betas", 0),
                        .beta2 = g.part("betas", 1),
                        .eps = g.number("eps"),
                        .weight_decay = g.number("weight_decay"),
                        .momentum_decay = g.number("momentum_decay"),
                        .maximize = g.flag("maximize"),
                        .decoupled_weight_decay = g.flag("decoupled_weight_decay")});
}

Rule radam(const Group& g) {
    return aten::radam({.beta1 = g.part("betas", 0),
                        .beta2 = g.part("betas", 1),
                        .eps = g.number("eps"),
                        .weight_decay = g.number("weight_decay"),
                        .maximize = g.flag("maximize"),
                        .decoupled_weight_decay = g.flag("decoupled_weight_decay")});
}

Rule adamax(const Group& g) {
    return aten::adamax({.beta1 = g.part("betas", 0),
                         .beta2 = g.part("betas", 1),
                         .eps = g.number("eps"),
                         .weight_decay = g.number("weight_decay"),
                         .maximize = g.flag("maximize")});
}

Rule rmsprop(const Group& g) {
    return aten::rmsprop({.alpha = g.number("alpha"),
                          .eps = g.number("eps"),
                          .weight_decay = g.number("weight_decay"),
                          .momentum = g.number("momentum"),
                          .centered = g.flag("centered"),
                          .maximize = g.flag("maximize")});
}

Rule adagrad(const Group& g) {
    return aten::adagrad({.lr_decay = g.number("lr_decay"),
                          .weight_decay = g.number("weight_decay"),
                          .initial_accumulator_value = g.number("initial_accumulator_value"),
                          .eps = g.number("eps"),
                          .maximize = g.flag("maximize")});
}

Rule adadelta(const Group& g) {
    return aten::adadelta({.rho = g.number("rho"),
                           .eps = g.number("eps"),
                           .weight_decay = g.number("weight_decay"),
                           .maximize = g.flag("maximize")});
}

Rule rprop(const Group& g) {
    return aten::rprop({.first_size = g.number("lr"),
                        .small = g.part("etas", 0),
                        .large = g.part("etas", 1),
                        .least = g.part("step_sizes", 0),
                        .greatest = g.part("step_sizes", 1),
                        .maximize = g.flag("maximize")});
}

Rule asgd(const Group& g) {
    return aten::asgd({.lambd = g.number("lambd"),
                       .alpha = g.number("alpha"),
                       .t0 = g.number("t0"),
                       .weight_decay = g.number("weight_decay"),
                       .maximize = g.flag("maximize")});
}

Rule adafactor(const Group& g) {
    const nb::object least = g.at("eps")[0];
    aten::AdafactorOptions options{.beta2_decay = g.number("beta2_decay"),
                                   .epsilon1 = {},
                                   .epsilon2 = g.part("eps", 1),
                                   .d = g.number("d"),
                                   .weight_decay = g.number("weight_decay"),
                                   .maximize = g.flag("maximize")};
    if (!least.is_none()) options.epsilon1 = number_from(least);
    return aten::adafactor(options);
}

Rule muon(const Group& g) {
    const nb::handle adjusted = g.at("adjust_lr_fn");
    return aten::muon({.weight_decay = g.number("weight_decay"),
                       .momentum = g.number("momentum"),
                       .eps = g.number("eps"),
                       .a = g.part("ns_coefficients", 0),
                       .b = g.part("ns_coefficients", 1),
                       .c = g.part("ns_coefficients", 2),
                       .ns_steps = integer_from(g.at("ns_steps")),
                       .nesterov = g.flag("nesterov"),
                       .match_rms_adamw = !adjusted.is_none() &&
                                          nb::cast<std::string>(adjusted) == "match_rms_adamw"});
}

}  // namespace

void bind_aten_optimizers(nb::module_& module) {
    const nb::call_guard<Located> located;
    nb::class_<Rule>(module, "Rule", "What becomes of one parameter in one step.")
        .def("numbers", &numbers, "What differs from step to step beside tensors, by name.",
             located)
        .def("update", &updated, "The new parameter; the state's tensors are replaced.", located);
    const auto rule = [&](const char* name, Rule (*made)(const Group&)) {
        module.def(name, [made](nb::dict group) { return made(Group(std::move(group))); });
    };
    rule("sgd", sgd);
    rule("adam", adam);
    rule("nadam", nadam);
    rule("radam", radam);
    rule("adamax", adamax);
    rule("rmsprop", rmsprop);
    rule("adagrad", adagrad);
    rule("adadelta", adadelta);
    rule("rprop", rprop);
    rule("asgd", asgd);
    rule("adafactor", adafactor);
    rule("muon", muon);
    module.def("check_optimizer_options", [](std::string_view optimizer, nb::dict group) {
        aten::Options options;
        const auto take = [&](std::string name, nb::handle value) {
            if (PyNumber_Check(value.ptr()) && !is_tensor_of_torch(value) && !is_tensor(value))
                options.emplace(std::move(name), step_number(value));
        };
        for (const auto& [name, value] : group) {
            const auto text = nb::cast<std::string>(name);
            if (!PyTuple_Check(value.ptr()) && !PyList_Check(value.ptr())) {
                take(text, value);
                continue;
            }
            for (size_t i = 0; i < nb::len(value); ++i)
                take(text + "[" + std::to_string(i) + "]", value[i]);
        }
        aten::check_optimizer_options(optimizer, options);
    });
    module.def(
        "strong_wolfe",
        [](nb::callable at, double first, double size, double loss, double slope) {
            const auto point = [&](double length) {
                const nb::object made = at(length);
                return aten::LinePoint{.loss = nb::cast<double>(made[0]),
                                       .slope = nb::cast<double>(made[1])};
            };
            const aten::LineSearch made =
                aten::strong_wolfe(point, first, size, {.loss = loss, .slope = slope});
            return nb::make_tuple(made.found.length, made.found.loss, made.found.call, made.calls);
        },
        "The length, the loss there, the call of `at` that found it (-1: none), and how many there "
        "were; at(length) gives the loss and its slope.");
}

}  // namespace composit::python
