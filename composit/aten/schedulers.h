// Learning rates of PyTorch's torch.optim.lr_scheduler, step by step.
//
// A schedule is two functions: the next rate from the one before, by which PyTorch's classes go
// forward, and, where there is one, a closed form, by which they go to a step. Rates may be tensors
// (number.h).
//
//   const Schedule schedule = step_lr(30);
//   rate = schedule.next(rate, base, epoch);
#pragma once

#include "composit/aten/number.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::aten {

struct Schedule {
    // The rate of step `epoch`, 0 for the first, after `rate`; `base` is the initial one.
    std::function<Number(const Number& rate, const Number& base, double epoch)> next;
    // The rate of step `epoch` whatever came before; empty where there is no closed form.
    std::function<Number(const Number& base, double epoch)> at;
};

// Arguments have the names and meanings of PyTorch's classes.

// times gamma each step_size steps
[[nodiscard]] Schedule step_lr(double step_size, double gamma = 0.1);
// times gamma at milestones, ascending; once for each that is given twice
[[nodiscard]] Schedule multi_step_lr(const std::vector<double>& milestones, double gamma = 0.1);
// times gamma at each step
[[nodiscard]] Schedule exponential_lr(double gamma);
// times a factor, for the first steps
[[nodiscard]] Schedule constant_lr(double factor = 1.0 / 3, double total_iters = 5);
// times a factor that goes from one to another
[[nodiscard]] Schedule linear_lr(double start_factor = 1.0 / 3, double end_factor = 1,
                                 double total_iters = 5);
// to zero by a power of what is left
[[nodiscard]] Schedule polynomial_lr(double total_iters = 5, double power = 1);
// along a cosine to eta_min, and back
[[nodiscard]] Schedule cosine_annealing_lr(double t_max, double eta_min = 0);
// The point of a cosine from base to eta_min that part of the way, current / period: of
// CosineAnnealingWarmRestarts.
[[nodiscard]] Number cosine_point(const Number& base, double eta_min, double current,
                                  double period);

// Where in its period of a cosine with restarts a step is: periods are t_0 long, each t_mult times
// the one before.
struct Restart {
    double current, period;
};
// ValueError, PyTorch's words, for a step below 0.
[[nodiscard]] Restart restart_at(const Number& epoch, double t_0, double t_mult);
// ValueError, PyTorch's words, unless periods are integers, the first one 1 at least and the
// multiple, too.
void check_restarts(const Number& t_0, const Number& t_mult);

// How far from the lower rate to the higher one, 0 to 1, a step of CyclicLR is, and the number of
// its cycle, 1 for the first.
struct CyclePoint {
    double height, cycle;
};
[[nodiscard]] CyclePoint cycle_point(double epoch, double total_size, double step_ratio);
// A number at that height between a low and a high one, whose distance is scaled.
[[nodiscard]] Number cycled(const Number& low, const Number& high, double height, double scale);
// Between two numbers of one of OneCycleLR's parts: along a cosine, or a line.
[[nodiscard]] Number annealed(const Number& start, const Number& end, double share, bool is_cosine);

// OneCycleLR's parts: the last step of each, and the rates and momenta between which it goes.
enum class CycleRate { initial, largest, least };
enum class CycleMomentum { base, largest };
struct CyclePart {
    double end;
    CycleRate from, to;
    CycleMomentum momentum_from, momentum_to;
};
// Up for pct_start of the steps and down for the rest; with three_phase down as it went up, then
// below. ValueError, PyTorch's words, unless pct_start is a float from 0 to 1.
[[nodiscard]] std::vector<CyclePart> one_cycle(int64_t total_steps, const Number& pct_start = 0.3,
                                               bool three_phase = false);
// How many steps there are: total_steps, or epochs times steps_per_epoch. ValueError, PyTorch's
// words, where they are not given, or are no positive integers.
[[nodiscard]] int64_t cycle_steps(const std::optional<Number>& total_steps,
                                  const std::optional<Number>& epochs = {},
                                  const std::optional<Number>& steps_per_epoch = {});
// Whether "cos" is the strategy, not "linear". ValueError, PyTorch's words, for others.
[[nodiscard]] bool is_cosine_strategy(std::string_view strategy);
// The part that a step is in, and how far within it, from 0 to 1.
struct CyclePosition {
    size_t part;
    double share;
};
[[nodiscard]] CyclePosition position_in(const std::vector<CyclePart>& cycle, double epoch);

// How much of its height a cycle of CyclicLR has, by its number from 1 on, or, of "exp_range", by
// the step: all of it, half of the one before ("triangular2"), or gamma^step. ValueError for
// another mode.
[[nodiscard]] double cycle_scale(std::string_view mode, double number, double gamma = 1);

// What the height of a cycle goes by, "cycle" or "iterations", where no function of the user's says
// it: then what was given holds. ValueError, PyTorch's words, for another mode without one.
[[nodiscard]] std::string scale_mode(std::string_view mode, std::string_view given,
                                     bool has_function);

// Whether "cos" is SWALR's strategy, not "linear". ValueError, PyTorch's words, for others.
[[nodiscard]] bool is_cosine_of_averages(std::string_view strategy);
// How far SWALR is from the rates there were to its own after so many steps, 0 to 1: along a
// cosine, or a line. At once where there are none to go.
[[nodiscard]] double annealed_share(double step, double anneal_steps, bool is_cosine);
// The rate on the way from those there were to `last`, which was at one share and is at another.
[[nodiscard]] double averaging_rate(double rate, double last, double share_before, double share);

// What ReduceLROnPlateau has seen.
struct Plateau {
    double best;
    int64_t bad_epochs = 0, cooldown = 0;
};
struct PlateauOptions {
    bool is_max = false, is_absolute = false;
    double threshold = 1e-4;
    int64_t patience = 10, cooldown = 0;
};
// ValueError, PyTorch's words, unless the factor is below 1, the mode "min" or "max" and the
// threshold's "rel" or "abs".
[[nodiscard]] PlateauOptions plateau_options(double factor, std::string_view mode,
                                             std::string_view threshold_mode, double threshold);
// A rate times the factor, but not below the least; as it was where that is no more than eps less.
[[nodiscard]] double reduced_rate(double rate, double factor, double least, double eps);
// Whether a metric is better than the best one by more than the threshold.
[[nodiscard]] bool is_better(double metric, double best, const PlateauOptions& options);
// The metric of one more step: whether the rate is to be reduced. `seen` becomes what was seen.
[[nodiscard]] bool reduces(Plateau& seen, double metric, const PlateauOptions& options);

}  // namespace composit::aten
