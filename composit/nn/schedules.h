// Learning rates as functions of the step's number: torch.optim.lr_scheduler's curves, without
// state.
//
// A schedule takes the number of updates made before (0 for the first), an integer of no
// dimensions, to a float64 of no dimensions. It is made of ordinary operations: in a compiled step
// the number is an argument, or part of an optimiser's state, and nothing is compiled anew.
//
//   const Schedule rate = sequential_schedule(
//       {linear_schedule(1e-3, 100), cosine_schedule(1e-3, 900)}, {100});
//   const Optimizer optimizer = adamw({.learning_rate = rate});
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace composit::nn {

using ir::Tensor;

class Schedule {
  public:
    using Function = std::function<Tensor(const Tensor& step)>;

    explicit Schedule(Function function) : function_(std::move(function)) {}

    // The rate of a step, lazy. TypeError: not an integer, or the function's result is no number;
    // ValueError: not of no dimensions.
    [[nodiscard]] Tensor operator()(const numpy::Operand& step) const;
    // The same number, computed. ValueError: a negative step.
    [[nodiscard]] double at(int64_t step) const;

  private:
    Function function_;
};

// All of them: ValueError for a number of steps that is not positive, and for negative rates.

// learning_rate, always.
[[nodiscard]] Schedule constant_schedule(double learning_rate);

// learning_rate gamma^(step // size): torch's StepLR.
[[nodiscard]] Schedule step_schedule(double learning_rate, int64_t size, double gamma = 0.1);

// learning_rate gamma^k after k of the milestones, which must not decrease: MultiStepLR.
[[nodiscard]] Schedule multi_step_schedule(double learning_rate,
                                           const std::vector<int64_t>& milestones,
                                           double gamma = 0.1);

// learning_rate gamma^step: ExponentialLR.
[[nodiscard]] Schedule exponential_schedule(double learning_rate, double gamma);

// From learning_rate down to minimum in `steps`, on half a wave of a cosine, and up again in as
// many more: CosineAnnealingLR.
[[nodiscard]] Schedule cosine_schedule(double learning_rate, int64_t steps, double minimum = 0);

// Half waves of a cosine, each from learning_rate to minimum: the first takes `steps`, each other
// `multiplier` times the one before: CosineAnnealingWarmRestarts.
[[nodiscard]] Schedule cosine_restarts_schedule(double learning_rate, int64_t steps,
                                                int64_t multiplier = 1, double minimum = 0);

// From learning_rate start_factor to learning_rate end_factor in `steps`, then constant: LinearLR,
// a warm-up by default.
[[nodiscard]] Schedule linear_schedule(double learning_rate, int64_t steps,
                                       double start_factor = 1.0 / 3, double end_factor = 1);

// learning_rate (1 - step / steps)^power down to zero, where it stays: PolynomialLR.
[[nodiscard]] Schedule polynomial_schedule(double learning_rate, int64_t steps, double power = 1);

struct OneCycleOptions {
    double warm_up = 0.3;         // the part of the steps in which the rate rises
    bool linear = false;          // straight lines in place of half waves
    double division = 25;         // the first rate is the largest one divided by this
    double final_division = 1e4;  // the last rate is the first one divided by this
    bool three_phases = false;    // down to the first rate as fast as up, then to the last
};
// Up to learning_rate and down again within `steps`, after which it stays: OneCycleLR.
[[nodiscard]] Schedule one_cycle_schedule(double learning_rate, int64_t steps,
                                          const OneCycleOptions& options = {});

// learning_rate times the values of all factors, which are schedules of rate 1: ChainedScheduler.
[[nodiscard]] Schedule chained_schedule(double learning_rate, const std::vector<Schedule>& factors);

// Schedule i from milestones[i - 1] to milestones[i], each counting from its own beginning:
// SequentialLR. One milestone fewer than schedules, increasing.
[[nodiscard]] Schedule sequential_schedule(const std::vector<Schedule>& schedules,
                                           const std::vector<int64_t>& milestones);

}  // namespace composit::nn
