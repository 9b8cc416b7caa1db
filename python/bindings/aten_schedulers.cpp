// Formulas of learning rates (composit/aten/schedulers.h), and the groups of parameters that get
// them.
#include "aten.h"
#include "aten_numbers.h"
#include "composit/aten/schedulers.h"
#include "composit/base/error.h"
#include "content.h"
#include "flags.h"
#include "location.h"
#include "optimizers.h"
#include "shown.h"
#include "torch_objects.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace composit::python {
namespace {

using aten::Number;
using aten::Schedule;

// A rate as a group of parameters has it: a number, or a tensor of composit.torch's.
Number group_rate(nb::handle rate) {
    return is_tensor_of_torch(rate) ? Number(tensor_from(lazy_of(rate))) : step_number(rate);
}

nb::object group_rate_object(const Number& rate) {
    return rate.is_known() ? step_number_object(rate) : tensor_of(rate.operand());
}

// What a formula makes of each group's rates.
template <class Formula, class... Rates>
nb::list of_each_group(Formula&& formula, size_t count, const Rates&... rates) {
    nb::list made;
    for (size_t i = 0; i < count; ++i)
        made.append(group_rate_object(formula(group_rate(nb::object(rates[i]))...)));
    return made;
}

// A copy of a rate that later writes into a tensor do not reach.
nb::object rate_now(nb::handle rate) {
    return is_tensor_of_torch(rate) ? nb::object(rate.attr("detach")().attr("clone")())
                                    : nb::borrow(rate);
}

nb::list rates_of(nb::handle groups, const char* name) {
    nb::list found;
    for (nb::handle group : groups) found.append(rate_now(nb::object(group[name])));
    return found;
}

// A tensor that the group has is written over.
void set_rate(nb::handle group, nb::handle rate) {
    const nb::object held = group["lr"];
    if (!is_tensor_of_torch(held)) {
        nb::borrow<nb::dict>(group)["lr"] = rate;
        return;
    }
    const bool is_tensor = is_tensor_of_torch(rate);
    held.attr("data").attr("fill_")(is_tensor ? nb::object(rate.attr("item")()) : nb::borrow(rate));
}

void set_rates(nb::handle groups, nb::handle given) {
    const nb::list rates{nb::borrow(given)};
    const size_t count = std::min(nb::len(groups), nb::len(rates));
    for (size_t i = 0; i < count; ++i) set_rate(nb::object(groups[i]), nb::object(rates[i]));
}

// The rates from which a schedule begins, or goes on.
nb::list initial_rates(nb::handle groups, int64_t last_epoch) {
    size_t number = 0;
    for (nb::handle each : groups) {
        nb::dict group = nb::borrow<nb::dict>(each);
        const size_t i = number++;
        if (group.contains("initial_lr")) continue;
        user_check<KeyError>(last_epoch == -1,
                             "param 'initial_lr' is not specified in param_groups[", i,
                             "] when resuming scheduler with last_epoch >= 0.");
        group["initial_lr"] = rate_now(nb::object(group["lr"]));
    }
    return rates_of(groups, "initial_lr");
}

bool is_list_or_tuple(nb::handle value) {
    return PyList_Check(value.ptr()) || PyTuple_Check(value.ptr());
}

// One for each group, of as many or one.
nb::list one_for_each(nb::handle value, nb::handle groups) {
    if (is_list_or_tuple(value)) return nb::list(nb::borrow(value));
    nb::list made;
    for (size_t i = 0; i < nb::len(groups); ++i) made.append(value);
    return made;
}

// The same, where another count is an error of PyTorch's.
nb::list as_many(nb::handle value, nb::handle groups, const std::string& name) {
    nb::list made = one_for_each(value, groups);
    const size_t wanted = nb::len(groups), given = nb::len(made);
    if (wanted == given) return made;
    user_check(name != "lr_lambdas", "Expected ", wanted, " lr_lambdas, but got ", given);
    user_check(name != "min_lrs", "expected ", wanted, " min_lrs, got ", given);
    fail(name, " must have the same length as optimizer.param_groups: ", name, " has ", given,
         ", optimizer.param_groups has ", wanted);
}

void check_functions(nb::handle functions) {
    for (nb::handle each : functions)
        user_check<TypeError>(PyCallable_Check(each.ptr()) != 0,
                              "lr_lambda should be a function, but got ", KindOf{each});
}

// ----- schedules of schedules

// The optimiser of all. ValueError for no schedule, for ReduceLROnPlateau and for one of another
// optimiser, TypeError for what is no schedule.
nb::object optimizer_of_all(const std::string& name, nb::handle optimizer, nb::handle schedules,
                            const std::string& what) {
    user_check(nb::len(schedules) >= 1, name, " expects at least one scheduler", what,
               ", but got no scheduler.");
    const nb::object common =
        optimizer.is_none() ? nb::object(schedules[0].attr("optimizer")) : nb::borrow(optimizer);
    for (size_t i = 0; i < nb::len(schedules); ++i) {
        const nb::object each = schedules[i];
        user_check<TypeError>(has_attribute(each, "optimizer"), name, " at index ", i,
                              " should have `optimizer` as its attribute.");
        user_check(!truth_of(nb::getattr(each, "_takes_metric", nb::bool_(false))), name,
                   " does not support `ReduceLROnPlateau` scheduler as it requires additional "
                   "kwargs to be specified when calling `step`, but got one at index ",
                   i, " in the given schedulers sequence.");
        const nb::object own = each.attr("optimizer");
        user_check(own.is(common), name,
                   " expects all schedulers to belong to the same optimizer, but got scheduler ",
                   KindOf{each}, " at index ", i, " has ", Said{own}, ", which is different from ",
                   KindOf{common}, ".");
    }
    return common;
}

// Takes schedules, and those within them, one step back.
void take_back(nb::handle schedule) {
    if (has_attribute(schedule, "_schedulers")) {
        for (nb::handle each : nb::object(schedule.attr("_schedulers"))) take_back(each);
    } else if (has_attribute(schedule, "last_epoch")) {
        nb::object(nb::borrow(schedule)).attr("last_epoch") =
            nb::object(schedule.attr("last_epoch")) - nb::int_(1);
    }
}

void check_milestones(size_t schedules, size_t milestones) {
    user_check(milestones + 1 == schedules,
               "Sequential Schedulers expects number of schedulers provided to be one more than "
               "the number of milestone points, but got number of schedulers ",
               schedules, " and the number of milestones to be equal to ", milestones);
}

// All attributes but those of these names.
nb::dict attributes_but(nb::handle object, nb::handle name_list) {
    const nb::set names(nb::borrow(name_list));
    nb::dict made;
    for (auto [name, value] : nb::borrow<nb::dict>(object.attr("__dict__")))
        if (!names.contains(name)) made[name] = value;
    return made;
}

// ----- momentum, which goes the other way

void check_momentum(nb::handle optimizer) {
    const nb::dict defaults = nb::borrow<nb::dict>(optimizer.attr("defaults"));
    user_check(defaults.contains("momentum") || defaults.contains("betas"),
               "optimizer must support momentum or beta1 with `cycle_momentum` option enabled");
}

void set_momentum(nb::handle of, nb::handle momentum) {
    nb::dict group = nb::borrow<nb::dict>(of);
    if (group.contains("momentum")) {
        group["momentum"] = momentum;
        return;
    }
    nb::list betas{nb::object(group["betas"])};
    betas[0] = momentum;
    group["betas"] = nb::tuple(betas);
}

void set_momenta(nb::handle groups, nb::handle momenta) {
    for (size_t i = 0; i < std::min(nb::len(groups), nb::len(momenta)); ++i)
        set_momentum(nb::object(groups[i]), nb::object(momenta[i]));
}

// A group's rates and momenta of OneCycleLR, from the largest ones.
void begin_one_cycle(nb::handle groups, nb::handle max_lr, double div_factor,
                     double final_div_factor, nb::handle base_momentum, nb::handle max_momentum) {
    const nb::list rates = one_for_each(max_lr, groups);
    const bool has_momentum = !base_momentum.is_none();
    const nb::list least = one_for_each(base_momentum, groups);
    const nb::list most = one_for_each(max_momentum, groups);
    for (size_t i = 0; i < nb::len(groups); ++i) {
        nb::object group = groups[i];
        const Number rate = group_rate(nb::object(rates[i])), first = rate / div_factor;
        group["initial_lr"] = group_rate_object(first);
        group["max_lr"] = rates[i];
        group["min_lr"] = group_rate_object(first / final_div_factor);
        if (!has_momentum) continue;
        set_momentum(group, nb::object(most[i]));
        group["base_momentum"] = least[i];
        group["max_momentum"] = most[i];
    }
}

// The groups' rates at a step of OneCycleLR, whose parts say by name what they go between; their
// momenta are set.
nb::list one_cycle_rates(nb::handle groups, nb::handle parts, double epoch, bool is_cosine,
                         bool with_momentum) {
    std::vector<aten::CyclePart> cycle;
    for (nb::handle part : parts)
        cycle.push_back({number_from(nb::object(part[0])), {}, {}, {}, {}});
    const int64_t steps = static_cast<int64_t>(cycle.back().end) + 1;
    user_check(epoch <= static_cast<double>(steps), "Tried to step ", static_cast<int64_t>(epoch),
               " times. The specified number of total steps is ", steps);
    const auto [number, share] = aten::position_in(cycle, epoch);
    const nb::object names = parts[number];
    const auto between = [&, at = share](nb::handle group, size_t from) {
        const Number start = group_rate(nb::object(group[nb::object(names[from])]));
        const Number end = group_rate(nb::object(group[nb::object(names[from + 1])]));
        return group_rate_object(aten::annealed(start, end, at, is_cosine));
    };
    nb::list rates;
    for (nb::handle group : groups) {
        rates.append(between(group, 1));
        if (with_momentum) set_momentum(group, between(group, 3));
    }
    return rates;
}

// The initial rates of CyclicLR are the lowest ones.
void begin_cycles(nb::handle groups, nb::handle base_lr) {
    const nb::list rates = one_for_each(base_lr, groups);
    for (size_t i = 0; i < std::min(nb::len(groups), nb::len(rates)); ++i) {
        nb::object group = groups[i];
        group["lr"] = rates[i];
        group["initial_lr"] = rates[i];
    }
}

// ----- ReduceLROnPlateau, SWALR

nb::list reduce_rates(nb::handle groups, nb::handle least, nb::handle usual, double factor,
                      double eps) {
    nb::list lowest(nb::borrow(least));
    if (nb::len(groups) != nb::len(lowest)) {  // a group was added
        user_check<RuntimeError>(
            !usual.is_none(), "The number of param groups in the `optimizer` (", nb::len(groups),
            ") differs from when `ReduceLROnPlateau` was initialized (", nb::len(lowest),
            "), usually due to a new param group being added to the optimizer. Please modify the "
            "`min_lrs` field to match the length of the `optimizer` param groups.");
        lowest = one_for_each(usual, groups);
    }
    for (size_t i = 0; i < nb::len(groups); ++i) {
        const double rate = number_from(nb::object(groups[i]["lr"]));
        const double reduced =
            aten::reduced_rate(rate, factor, number_from(nb::object(lowest[i])), eps);
        if (reduced != rate) set_rate(nb::object(groups[i]), nb::float_(reduced));
    }
    return lowest;
}

nb::list averaging_rates(nb::handle groups, double before, double now) {
    nb::list made;
    for (nb::handle group : groups)
        made.append(aten::averaging_rate(number_from(nb::object(group["lr"])),
                                         number_from(nb::object(group["swa_lr"])), before, now));
    return made;
}

}  // namespace

void bind_group_rates(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def("rates_of", rates_of, nb::arg("groups"), nb::arg("name") = "lr", located,
               "Copies of the groups' rates.");
    module.def("set_rates", set_rates, nb::arg("groups"), nb::arg("rates"), located,
               "Gives the groups rates; tensors that they have are written over.");
    module.def("initial_rates", initial_rates, nb::arg("groups"), nb::arg("last_epoch"), located,
               "The rates from which a schedule begins, or goes on.");
    module.def("one_for_each", one_for_each, nb::arg("value").none(), nb::arg("groups"));
    module.def("as_many", as_many, nb::arg("value"), nb::arg("groups"), nb::arg("name"),
               "One for each group; ValueError, PyTorch's words, for a list of another length.");
    module.def("check_functions", check_functions, nb::arg("functions"));
    module.def("optimizer_of_all", optimizer_of_all, nb::arg("name"), nb::arg("optimizer").none(),
               nb::arg("schedules"), nb::arg("what"),
               "The optimiser of schedules that are combined; ValueError where it is not one.");
    module.def("take_back", take_back, nb::arg("schedule"));
    module.def("check_milestones", check_milestones);
    module.def("attributes_but", attributes_but, nb::arg("object"), nb::arg("names"));
    module.def(
        "attributes_of_function",
        [](nb::handle function) -> nb::object {
            if (PyFunction_Check(function.ptr())) return nb::none();
            const nb::object own = function.attr("__dict__");
            return nb::steal(PyDict_Copy(own.ptr()));
        },
        nb::arg("function"), "Those of an object that can be called; None of a plain function.");
    module.def(
        "cycle_size",
        [](double up, nb::handle down) {
            const double whole = up + (down.is_none() ? up : number_from(down));
            return std::make_pair(whole, up / whole);
        },
        nb::arg("up"), nb::arg("down").none(), "How long a cycle is, and what part of it rises.");
    module.def("check_momentum", check_momentum);
    module.def("set_momenta", set_momenta, nb::arg("groups"), nb::arg("momenta"));
    module.def("begin_one_cycle", begin_one_cycle, nb::arg("groups"), nb::arg("max_lr"),
               nb::arg("div_factor"), nb::arg("final_div_factor"), nb::arg("base_momentum").none(),
               nb::arg("max_momentum").none(), located);
    module.def("begin_cycles", begin_cycles, nb::arg("groups"), nb::arg("base_lr"));
    module.def(
        "cycled",
        [](nb::handle low, nb::handle high, double height, double scale) {
            return of_each_group(
                [&](const Number& a, const Number& b) { return aten::cycled(a, b, height, scale); },
                std::min(nb::len(low), nb::len(high)), low, high);
        },
        nb::arg("low"), nb::arg("high"), nb::arg("height"), nb::arg("scale"), located,
        "What is that part of the way up, for each group.");
    module.def("reduce_rates", reduce_rates, nb::arg("groups"), nb::arg("least"),
               nb::arg("usual").none(), nb::arg("factor"), nb::arg("eps"), located,
               "Reduces the groups' rates; the least ones, of as many as there are groups now.");
    module.def("averaging_rates", averaging_rates, nb::arg("groups"), nb::arg("before"),
               nb::arg("now"));
    module.def("one_cycle_rates", one_cycle_rates, nb::arg("groups"), nb::arg("parts"),
               nb::arg("epoch"), nb::arg("is_cosine"), nb::arg("with_momentum"), located,
               "The groups' rates at a step of OneCycleLR; their momenta are set.");
}

void bind_aten_schedulers(nb::module_& module) {
    const nb::call_guard<Located> located;
    nb::class_<Schedule>(module, "LearningRates", "The next rate, and the rate of a step.")
        .def(
            "next",
            [](const Schedule& self, double epoch, nb::handle rates, nb::handle bases) {
                return of_each_group(
                    [&](const Number& rate, const Number& base) {
                        return self.next(rate, base, epoch);
                    },
                    std::min(nb::len(rates), nb::len(bases)), rates, bases);
            },
            located, "The next rates of groups, from those before.")
        .def(
            "at",
            [](const Schedule& self, double epoch, nb::handle bases) {
                return of_each_group([&](const Number& base) { return self.at(base, epoch); },
                                     nb::len(bases), bases);
            },
            located, "The rates of a step.");
    module.def("step_lr", &aten::step_lr);
    module.def("multi_step_lr", &aten::multi_step_lr);
    module.def("exponential_lr", &aten::exponential_lr);
    module.def("constant_lr", &aten::constant_lr);
    module.def("linear_lr", &aten::linear_lr);
    module.def("polynomial_lr", &aten::polynomial_lr);
    module.def("cosine_annealing_lr", &aten::cosine_annealing_lr);
    module.def(
        "cosine_points",
        [](nb::handle bases, double eta_min, double current, double period) {
            return of_each_group(
                [&](const Number& base) {
                    return aten::cosine_point(base, eta_min, current, period);
                },
                nb::len(bases), bases);
        },
        located);
    module.def("cycle_point", [](double epoch, double total_size, double step_ratio) {
        const aten::CyclePoint point = aten::cycle_point(epoch, total_size, step_ratio);
        return std::make_pair(point.height, static_cast<int64_t>(point.cycle));
    });
    module.def(
        "cycle_steps",
        [](nb::handle total, nb::handle epochs, nb::handle steps_per_epoch) {
            const auto number = [](nb::handle given) -> std::optional<Number> {
                if (given.is_none()) return {};
                return step_number(given);
            };
            return aten::cycle_steps(number(total), number(epochs), number(steps_per_epoch));
        },
        nb::arg().none(), nb::arg().none(), nb::arg().none());
    module.def("is_cosine_strategy", &aten::is_cosine_strategy);
    module.def("check_restarts", [](nb::handle t_0, nb::handle t_mult) {
        aten::check_restarts(step_number(t_0), step_number(t_mult));
    });
    // Whether the largest metric is the best, and whether thresholds are absolute.
    module.def("plateau_options", [](double factor, std::string_view mode,
                                     std::string_view threshold_mode, double threshold) {
        const aten::PlateauOptions made =
            aten::plateau_options(factor, mode, threshold_mode, threshold);
        return nb::make_tuple(made.is_max, made.is_absolute, made.threshold);
    });
    // What each part ends with, and the names of what it goes between in a group of parameters.
    module.def("one_cycle", [](int64_t total_steps, nb::handle pct_start, bool three_phase) {
        constexpr const char* rates[] = {"initial_lr", "max_lr", "min_lr"};
        constexpr const char* momenta[] = {"base_momentum", "max_momentum"};
        nb::list parts;
        for (const aten::CyclePart& part :
             aten::one_cycle(total_steps, step_number(pct_start), three_phase))
            parts.append(nb::make_tuple(part.end, rates[static_cast<size_t>(part.from)],
                                        rates[static_cast<size_t>(part.to)],
                                        momenta[static_cast<size_t>(part.momentum_from)],
                                        momenta[static_cast<size_t>(part.momentum_to)]));
        return parts;
    });
    module.def("cycle_scale", &aten::cycle_scale);
    module.def("scale_mode", &aten::scale_mode);
    module.def("is_cosine_of_averages", &aten::is_cosine_of_averages);
    module.def("annealed_share", &aten::annealed_share);
    module.def("restart_at", [](nb::handle epoch, double t_0, double t_mult) -> nb::tuple {
        const aten::Restart made = aten::restart_at(step_number(epoch), t_0, t_mult);
        if (!PyLong_Check(epoch.ptr())) return nb::make_tuple(made.current, made.period);
        return nb::make_tuple(static_cast<int64_t>(made.current),
                              static_cast<int64_t>(made.period));
    });
    const auto options = [](bool is_max, bool is_absolute, double threshold) {
        return aten::PlateauOptions{
            .is_max = is_max, .is_absolute = is_absolute, .threshold = threshold};
    };
    module.def("is_better", [options](double metric, double best, bool is_max, bool is_absolute,
                                      double threshold) {
        return aten::is_better(metric, best, options(is_max, is_absolute, threshold));
    });
    module.def("reduces", [options](double metric, double best, int64_t bad_epochs, int64_t waiting,
                                    bool is_max, bool is_absolute, double threshold,
                                    int64_t patience, int64_t cooldown) {
        aten::PlateauOptions o = options(is_max, is_absolute, threshold);
        o.patience = patience;
        o.cooldown = cooldown;
        aten::Plateau seen{best, bad_epochs, waiting};
        const bool is_reduced = aten::reduces(seen, metric, o);
        return std::make_tuple(is_reduced, seen.best, seen.bad_epochs, seen.cooldown);
    });
}

}  // namespace composit::python
