// Schedules: closed forms in float64 of the step's number.
#include "composit/nn/schedules.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/execute/execute.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace composit::nn {
namespace {

using ir::DType;
using Integers = std::vector<int64_t>;

Tensor as_float(const Tensor& x) { return ops::astype(x, DType::float64); }

Tensor where(const Tensor& condition, const Tensor& a, const Tensor& b) {
    return numpy::apply("where", {condition, a, b});
}

// The part of the way from 0 to `steps` that is done: at most 1.
Tensor part_done(const Tensor& step, int64_t steps) {
    return numpy::apply("minimum", {as_float(step), static_cast<double>(steps)}) /
           static_cast<double>(steps);
}

// From `start` to `end` on half a wave.
Tensor half_wave(double start, double end, const Tensor& part) {
    return end + (numpy::apply("cos", {part * std::numbers::pi}) + 1.0) * ((start - end) / 2);
}

void check_rate(std::string_view function, std::string_view name, double rate) {
    user_check(rate >= 0 && std::isfinite(rate), function, ": ", name, " is ", rate,
               ". A finite number from 0 is required.");
}

void check_steps(std::string_view function, std::string_view name, int64_t steps) {
    // Beyond 2^53 steps float64 cannot count.
    user_check(steps > 0 && steps < (int64_t{1} << 53), function, ": ", name, " is ", steps,
               ". A number from 1 to 2^53 - 1 is required.");
}

void check_milestones(std::string_view function, const Integers& milestones, bool may_be_equal) {
    for (size_t i = 0; i < milestones.size(); ++i) {
        const int64_t previous = i == 0 ? -1 : milestones[i - 1];
        user_check(milestones[i] > previous || (may_be_equal && milestones[i] == previous),
                   function, ": milestone ", i, " is ", milestones[i],
                   i == 0 ? text(". A number from 0 is required.")
                          : text(" after ", previous, ". Growing numbers are required."));
    }
}

// How many of `bounds`, which is ascending, are at most `step`.
Tensor count_passed(const Integers& bounds, const Tensor& step) {
    const auto length = static_cast<int64_t>(bounds.size());
    return numpy::searchsorted(numpy::array<int64_t>(bounds, {length}), step, numpy::Side::right);
}

Tensor element(const std::vector<double>& values, const Tensor& index) {
    const auto length = static_cast<int64_t>(values.size());
    return numpy::take(numpy::array<double>(values, {length}), index, int64_t{0}, "clip");
}

}  // namespace

Tensor Schedule::operator()(const numpy::Operand& step) const {
    const Tensor number = numpy::strong(step);
    user_check<TypeError>(ir::is_integer(number.dtype()), "schedule: the step is ", number.dtype(),
                          ". An integer is required.");
    user_check(number.rank() == 0, "schedule: the step has shape ", number.shape(),
               ". A number of no dimensions is required.");
    const Tensor rate = numpy::strong(function_(ops::astype(number, DType::int64)));
    user_check<TypeError>(!ir::is_complex(rate.dtype()) && rate.dtype() != DType::boolean,
                          "schedule: the rate is ", rate.dtype(), ". A number is required.");
    user_check(rate.rank() == 0, "schedule: the rate has shape ", rate.shape(),
               ". A number of no dimensions is required.");
    return as_float(rate);
}

double Schedule::at(int64_t step) const {
    user_check(step >= 0, "schedule: the step is ", step, ". A number from 0 is required.");
    return execute::evaluate({(*this)(step)})[0].data_as<double>()[0];
}

Schedule constant_schedule(double learning_rate) {
    check_rate("constant_schedule", "learning_rate", learning_rate);
    return Schedule([=](const Tensor&) { return numpy::scalar(DType::float64, learning_rate); });
}

Schedule step_schedule(double learning_rate, int64_t size, double gamma) {
    check_rate("step_schedule", "learning_rate", learning_rate);
    check_rate("step_schedule", "gamma", gamma);
    check_steps("step_schedule", "size", size);
    return Schedule([=](const Tensor& step) {
        const Tensor count = as_float(numpy::apply("floor_divide", {step, size}));
        return numpy::apply("power", {gamma, count}) * learning_rate;
    });
}

Schedule multi_step_schedule(double learning_rate, const Integers& milestones, double gamma) {
    check_rate("multi_step_schedule", "learning_rate", learning_rate);
    check_rate("multi_step_schedule", "gamma", gamma);
    check_milestones("multi_step_schedule", milestones, true);
    return Schedule([=](const Tensor& step) {
        const Tensor count = as_float(count_passed(milestones, step));
        return numpy::apply("power", {gamma, count}) * learning_rate;
    });
}

Schedule exponential_schedule(double learning_rate, double gamma) {
    check_rate("exponential_schedule", "learning_rate", learning_rate);
    check_rate("exponential_schedule", "gamma", gamma);
    return Schedule([=](const Tensor& step) {
        return numpy::apply("power", {gamma, as_float(step)}) * learning_rate;
    });
}

Schedule cosine_schedule(double learning_rate, int64_t steps, double minimum) {
    check_rate("cosine_schedule", "learning_rate", learning_rate);
    check_rate("cosine_schedule", "minimum", minimum);
    check_steps("cosine_schedule", "steps", steps);
    return Schedule([=](const Tensor& step) {
        return half_wave(learning_rate, minimum, as_float(step) / static_cast<double>(steps));
    });
}

Schedule cosine_restarts_schedule(double learning_rate, int64_t steps, int64_t multiplier,
                                  double minimum) {
    const std::string_view name = "cosine_restarts_schedule";
    check_rate(name, "learning_rate", learning_rate);
    check_rate(name, "minimum", minimum);
    check_steps(name, "steps", steps);
    check_steps(name, "multiplier", multiplier);
    if (multiplier == 1)
        return Schedule([=](const Tensor& step) {
            const Tensor since = as_float(numpy::apply("remainder", {step, steps}));
            return half_wave(learning_rate, minimum, since / static_cast<double>(steps));
        });
    // Where each wave begins, and its length: exact, which logarithms would not be.
    std::vector<double> begins{0}, lengths{static_cast<double>(steps)};
    Integers restarts;
    constexpr auto last = static_cast<double>(int64_t{1} << 53);
    while (begins.back() + lengths.back() < last) {
        begins.push_back(begins.back() + lengths.back());
        lengths.push_back(lengths.back() * static_cast<double>(multiplier));
        restarts.push_back(static_cast<int64_t>(begins.back()));
    }
    return Schedule([=](const Tensor& step) {
        const Tensor wave = count_passed(restarts, step);
        const Tensor since = as_float(step) - element(begins, wave);
        return half_wave(learning_rate, minimum, since / element(lengths, wave));
    });
}

Schedule linear_schedule(double learning_rate, int64_t steps, double start_factor,
                         double end_factor) {
    check_rate("linear_schedule", "learning_rate", learning_rate);
    check_rate("linear_schedule", "start_factor", start_factor);
    check_rate("linear_schedule", "end_factor", end_factor);
    check_steps("linear_schedule", "steps", steps);
    return Schedule([=](const Tensor& step) {
        const Tensor factor = part_done(step, steps) * (end_factor - start_factor) + start_factor;
        return factor * learning_rate;
    });
}

Schedule polynomial_schedule(double learning_rate, int64_t steps, double power) {
    check_rate("polynomial_schedule", "learning_rate", learning_rate);
    check_rate("polynomial_schedule", "power", power);
    check_steps("polynomial_schedule", "steps", steps);
    return Schedule([=](const Tensor& step) {
        return numpy::apply("power", {1.0 - part_done(step, steps), power}) * learning_rate;
    });
}

Schedule one_cycle_schedule(double learning_rate, int64_t steps, const OneCycleOptions& options) {
    const std::string_view name = "one_cycle_schedule";
    check_rate(name, "learning_rate", learning_rate);
    check_steps(name, "steps", steps);
    user_check(options.warm_up >= 0 && options.warm_up <= 1, name, ": warm_up is ", options.warm_up,
               ". A part from 0 to 1 is required.");
    user_check(options.division > 0 && options.final_division > 0, name, ": the divisions are ",
               options.division, " and ", options.final_division,
               ". Positive numbers are required.");
    const double first = learning_rate / options.division, last = first / options.final_division;
    struct Phase {
        double end, from, to;
    };
    const double total = static_cast<double>(steps), top = options.warm_up * total - 1;
    std::vector<Phase> phases{{top, first, learning_rate}};
    if (options.three_phases)
        phases.push_back({2 * options.warm_up * total - 2, learning_rate, first});
    phases.push_back({total - 1, options.three_phases ? first : learning_rate, last});
    return Schedule([=, linear = options.linear](const Tensor& step) {
        const Tensor now = numpy::apply("minimum", {as_float(step), total - 1});
        Tensor result;
        for (size_t i = phases.size(); i-- > 0;) {
            const Phase& phase = phases[i];
            const double begin = i == 0 ? 0 : phases[i - 1].end;
            // A phase of no length is never entered, but for its end.
            const double length = phase.end == begin ? 1 : phase.end - begin;
            const Tensor part = (now - begin) / length;
            const Tensor rate = linear ? part * (phase.to - phase.from) + phase.from
                                       : half_wave(phase.from, phase.to, part);
            result = result ? where(now <= phase.end, rate, result) : rate;
        }
        return result;
    });
}

Schedule chained_schedule(double learning_rate, const std::vector<Schedule>& factors) {
    check_rate("chained_schedule", "learning_rate", learning_rate);
    return Schedule([=](const Tensor& step) {
        Tensor rate = numpy::scalar(DType::float64, learning_rate);
        for (const Schedule& factor : factors) rate = rate * factor(step);
        return rate;
    });
}

Schedule sequential_schedule(const std::vector<Schedule>& schedules, const Integers& milestones) {
    user_check(schedules.size() == milestones.size() + 1, "sequential_schedule: ", schedules.size(),
               " schedules and ", milestones.size(),
               " milestones. One milestone between each two schedules is required.");
    check_milestones("sequential_schedule", milestones, false);
    return Schedule([=](const Tensor& step) {
        Tensor rate = schedules[0](step);
        for (size_t i = 0; i < milestones.size(); ++i)
            rate =
                where(step >= milestones[i],
                      schedules[i + 1](numpy::apply("maximum", {step - milestones[i], 0})), rate);
        return rate;
    });
}

}  // namespace composit::nn
