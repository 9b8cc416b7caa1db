// Rules of optimisers, made of a parameter group's options: composit/aten/optimizers.h.
#include "aten.h"
#include "aten_numbers.h"
#include "composit/aten/lbfgs.h"
#include "composit/aten/loss_scaling.h"
#include "composit/aten/optimizers.h"
#include "composit/base/error.h"
#include "flags.h"
#include "location.h"
#include "optimizers.h"
#include "torch_calls.h"
#include "torch_objects.h"
#include "values.h"

#include <nanobind/stl/string_view.h>

#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using aten::Rule;

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

// What is kept between updates, as PyTorch's state has it.
nb::dict state_of_scale(const aten::LossScale& scale) {
    nb::dict state;
    state["scale"] = scale.value();
    state["growth_factor"] = scale.options.growth_factor;
    state["backoff_factor"] = scale.options.backoff_factor;
    state["growth_interval"] = scale.options.growth_interval;
    state["_growth_tracker"] = scale.updates_since_change();
    return state;
}

void load_scale(aten::LossScale& scale, nb::dict state) {
    user_check<RuntimeError>(nb::len(state) > 0,
                             "The source state dict is empty, possibly because it was saved from a "
                             "disabled instance of GradScaler.");
    scale.set(number_from(state["scale"]), integer_from(state["_growth_tracker"]));
    scale.options.growth_factor = number_from(state["growth_factor"]);
    scale.options.backoff_factor = number_from(state["backoff_factor"]);
    scale.options.growth_interval = integer_from(state["growth_interval"]);
}

void bind_loss_scale(nb::module_& module) {
    using aten::LossScale;
    nb::class_<LossScale>(module, "LossScale",
                          "The scale of losses (composit/aten/loss_scaling.h).")
        .def(
            "__init__",
            [](LossScale* self, double initial, double growth, double backoff, int64_t interval) {
                new (self) LossScale({.initial = initial,
                                      .growth_factor = growth,
                                      .backoff_factor = backoff,
                                      .growth_interval = interval});
            },
            nb::arg("initial"), nb::arg("growth_factor"), nb::arg("backoff_factor"),
            nb::arg("growth_interval"))
        .def_prop_ro("value", &LossScale::value)
        .def("set",
             [](LossScale& self, double value) { self.set(value, self.updates_since_change()); })
        .def("note", &LossScale::note, nb::arg("are_finite"))
        .def("update", &LossScale::update)
        .def("state", &state_of_scale)
        .def("load", &load_scale, nb::arg("state"))
        .def("__getstate__", &state_of_scale)
        .def("__setstate__",
             [](LossScale& self, nb::dict state) {
                 new (&self) LossScale;
                 load_scale(self, std::move(state));
             })
        .def_prop_rw(
            "growth_factor", [](const LossScale& self) { return self.options.growth_factor; },
            [](LossScale& self, double value) { self.options.growth_factor = value; })
        .def_prop_rw(
            "backoff_factor", [](const LossScale& self) { return self.options.backoff_factor; },
            [](LossScale& self, double value) { self.options.backoff_factor = value; })
        .def_prop_rw(
            "growth_interval", [](const LossScale& self) { return self.options.growth_interval; },
            [](LossScale& self, int64_t value) { self.options.growth_interval = value; });
}

// What LBFGS keeps, by PyTorch's names.
aten::LbfgsState lbfgs_state(const nb::dict& kept) {
    const auto number = [&](const char* name, double otherwise) {
        const nb::object value = kept.get(name, nb::none());
        return value.is_none() ? otherwise : nb::cast<double>(nb::float_(value));
    };
    const auto vector = [&](const char* name) {
        const nb::object value = kept.get(name, nb::none());
        return value.is_none() ? Tensor() : held_by(value);
    };
    const auto vectors = [&](const char* name) {
        std::vector<Tensor> made;
        for (nb::handle value : nb::object(kept.get(name, nb::list())))
            made.push_back(held_by(value));
        return made;
    };
    return {.func_evals = static_cast<int64_t>(number("func_evals", 0)),
            .n_iter = static_cast<int64_t>(number("n_iter", 0)),
            .direction = vector("d"),
            .gradient = vector("prev_flat_grad"),
            .length = number("t", 0),
            .scale = number("H_diag", 1),
            .loss = number("prev_loss", 0),
            .changes = vectors("old_dirs"),
            .moves = vectors("old_stps")};
}

void keep(const nb::dict& kept, const aten::LbfgsState& state) {
    const auto listed = [](const std::vector<Tensor>& tensors) {
        nb::list made;
        for (const Tensor& x : tensors) made.append(wrapped_tensor(x));
        return made;
    };
    kept["func_evals"] = state.func_evals;
    kept["n_iter"] = state.n_iter;
    if (!state.direction) return;
    kept["d"] = wrapped_tensor(state.direction);
    kept["t"] = state.length;
    kept["old_dirs"] = listed(state.changes);
    kept["old_stps"] = listed(state.moves);
    kept["H_diag"] = state.scale;
    kept["prev_flat_grad"] = wrapped_tensor(state.gradient);
    kept["prev_loss"] = state.loss;
}

void lbfgs_step(const nb::dict& kept, const nb::dict& values, const nb::callable& compute,
                const nb::callable& begin, const nb::callable& move) {
    const Group group(values);
    const auto whole = [&](const char* name) { return static_cast<int64_t>(group.number(name)); };
    const aten::LbfgsOptions options{.lr = group.number("lr"),
                                     .max_iter = whole("max_iter"),
                                     .max_eval = whole("max_eval"),
                                     .tolerance_grad = group.number("tolerance_grad"),
                                     .tolerance_change = group.number("tolerance_change"),
                                     .history_size = whole("history_size"),
                                     .searches = !group.at("line_search_fn").is_none()};
    const aten::LbfgsProblem problem{
        [&] {
            const nb::object made = compute();
            return std::pair(nb::cast<double>(nb::object(made[0])), held_by(nb::object(made[1])));
        },
        [&] { begin(); },
        [&](double length, const Tensor& direction) { move(length, wrapped_tensor(direction)); }};
    aten::LbfgsState state = lbfgs_state(kept);
    aten::lbfgs(state, problem, options);
    keep(kept, state);
}

}  // namespace

void bind_aten_optimizers(nb::module_& module) {
    bind_loss_scale(module);
    nb::class_<Rule>(module, "Rule", "What becomes of one parameter in one step.");
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
    module.def("lbfgs", lbfgs_step, nb::call_guard<Located>(), nb::arg("state"), nb::arg("group"),
               nb::arg("compute"), nb::arg("begin"), nb::arg("move"),
               "A step of LBFGS with the options of a group: compute() gives the loss and its "
               "gradient, and move(length, direction) moves the parameters from where begin() was "
               "called.");
}

}  // namespace composit::python
