// Formulas of learning rates: composit/aten/schedulers.h.
#include "aten.h"
#include "aten_numbers.h"
#include "composit/aten/schedulers.h"
#include "location.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

namespace composit::python {
namespace {

using aten::Number;
using aten::Schedule;

}  // namespace

void bind_aten_schedulers(nb::module_& module) {
    const nb::call_guard<Located> located;
    nb::class_<Schedule>(module, "LearningRates", "The next rate, and the rate of a step.")
        .def(
            "next",
            [](const Schedule& self, double epoch, nb::handle rate, nb::handle base) {
                return step_number_object(self.next(step_number(rate), step_number(base), epoch));
            },
            located)
        .def(
            "at",
            [](const Schedule& self, double epoch, nb::handle base) {
                return step_number_object(self.at(step_number(base), epoch));
            },
            located);
    module.def("step_lr", &aten::step_lr);
    module.def("multi_step_lr", &aten::multi_step_lr);
    module.def("exponential_lr", &aten::exponential_lr);
    module.def("constant_lr", &aten::constant_lr);
    module.def("linear_lr", &aten::linear_lr);
    module.def("polynomial_lr", &aten::polynomial_lr);
    module.def("cosine_annealing_lr", &aten::cosine_annealing_lr);
    module.def(
        "cosine_point",
        [](nb::handle base, double eta_min, double current, double period) {
            return step_number_object(
                aten::cosine_point(step_number(base), eta_min, current, period));
        },
        located);
    module.def("cycle_point", [](double epoch, double total_size, double step_ratio) {
        const aten::CyclePoint point = aten::cycle_point(epoch, total_size, step_ratio);
        return std::make_pair(point.height, static_cast<int64_t>(point.cycle));
    });
    // What each part ends with, and the names of what it goes between in a group of parameters.
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
    module.def("averaging_rate", &aten::averaging_rate);
    module.def("reduced_rate", &aten::reduced_rate);
    // Whether the largest metric is the best, and whether thresholds are absolute.
    module.def("plateau_options", [](double factor, std::string_view mode,
                                     std::string_view threshold_mode, double threshold) {
        const aten::PlateauOptions made =
            aten::plateau_options(factor, mode, threshold_mode, threshold);
        return nb::make_tuple(made.is_max, made.is_absolute, made.threshold);
    });
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
    module.def("position_in", [](nb::handle parts, double epoch) {
        std::vector<aten::CyclePart> cycle;
        for (nb::handle part : parts) cycle.push_back({number_from(part[0]), {}, {}, {}, {}});
        const aten::CyclePosition found = aten::position_in(cycle, epoch);
        return std::make_pair(found.part, found.share);
    });
    module.def("cycle_scale", &aten::cycle_scale);
    module.def("annealed_share", &aten::annealed_share);
    module.def("restart_at", [](nb::handle epoch, double t_0, double t_mult) -> nb::tuple {
        const aten::Restart made = aten::restart_at(step_number(epoch), t_0, t_mult);
        if (!PyLong_Check(epoch.ptr())) return nb::make_tuple(made.current, made.period);
        return nb::make_tuple(static_cast<int64_t>(made.current),
                              static_cast<int64_t>(made.period));
    });
    module.def(
        "annealed",
        [](nb::handle start, nb::handle end, double share, bool is_cosine) {
            return step_number_object(
                aten::annealed(step_number(start), step_number(end), share, is_cosine));
        },
        located);
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
