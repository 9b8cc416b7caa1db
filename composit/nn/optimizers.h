// Optimisers: pure functions from parameters, gradients and state to new parameters and new state.
//
// Nothing is evaluated: a whole step, backward pass and all, is one graph. Formulas are
// torch.optim's; numbers that depend on the step are float64, and rounded to the parameter's dtype
// at the end.
#pragma once

#include "composit/nn/schedules.h"
#include "composit/numpy/operand.h"

#include <concepts>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace composit::nn {

// A learning rate: a number, a tensor of no dimensions, or a schedule over the optimiser's steps.
class LearningRate {
  public:
    template <class T>
        requires std::floating_point<T> || std::integral<T>
    LearningRate(T value) : known_(static_cast<double>(value)) {}
    LearningRate(Tensor value) : value_(std::move(value)) {}
    LearningRate(Schedule schedule) : schedule_(std::move(schedule)) {}

    [[nodiscard]] const std::optional<double>& known() const { return known_; }
    [[nodiscard]] bool is_scheduled() const { return schedule_.has_value(); }
    // The rate of the update that `step` others came before; a float64 scalar.
    [[nodiscard]] Tensor at(const Tensor& step) const;

  private:
    std::optional<double> known_;
    Tensor value_;
    std::optional<Schedule> schedule_;
};

struct Updated {
    std::vector<Tensor> parameters, state;
};
struct Optimizer {
    // The state before the first step, in an order of the optimiser's own: the number of steps
    // (int64), where it needs one, then what it keeps for each parameter.
    std::function<std::vector<Tensor>(const std::vector<Tensor>& parameters)> initial_state;
    // ValueError when counts or shapes of the three do not fit together, TypeError for parameters
    // that are not real and floating. Gradients are converted to their parameter's dtype.
    std::function<Updated(const std::vector<Tensor>& parameters,
                          const std::vector<Tensor>& gradients, const std::vector<Tensor>& state)>
        step;
};

// Options that are out of range are ValueErrors. `maximize`: along the gradient, not against it.

struct SgdOptions {
    LearningRate learning_rate = 1e-3;
    double momentum = 0, weight_decay = 0;
    bool nesterov = false;  // needs momentum, and no dampening (ValueError)
    double dampening = 0;
    bool maximize = false;
};
// State: one velocity per parameter (none without momentum); the number of steps before them with
// dampening or a schedule.
[[nodiscard]] Optimizer sgd(const SgdOptions& options);

struct AdamOptions {
    LearningRate learning_rate = 1e-3;
    double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, weight_decay = 0;
    bool amsgrad = false;  // divide by the largest second moment so far
    bool maximize = false;
};
// Adam (Kingma and Ba 2015); weight_decay is added to the gradient. State: the number of steps,
// the first moments, the second, with amsgrad the largest.
[[nodiscard]] Optimizer adam(const AdamOptions& options = {});
// AdamW (Loshchilov and Hutter 2019): weight decay beside the gradient. torch's default is 0.01.
[[nodiscard]] Optimizer adamw(const AdamOptions& options = {.weight_decay = 0.01});

struct RmspropOptions {
    LearningRate learning_rate = 1e-2;
    double alpha = 0.99, epsilon = 1e-8, weight_decay = 0, momentum = 0;
    bool centered = false;  // divide by the deviation in place of the root mean square
    bool maximize = false;
};
// RMSprop (Tieleman and Hinton 2012). State: mean squares, with momentum velocities, when centered
// means.
[[nodiscard]] Optimizer rmsprop(const RmspropOptions& options = {});

struct AdagradOptions {
    LearningRate learning_rate = 1e-2;
    double learning_rate_decay = 0, weight_decay = 0, initial_accumulator_value = 0,
           epsilon = 1e-10;
    bool maximize = false;
};
// Adagrad (Duchi, Hazan and Singer 2011). State: the number of steps, sums of squares.
[[nodiscard]] Optimizer adagrad(const AdagradOptions& options = {});

struct LionOptions {
    LearningRate learning_rate = 1e-4;
    double beta1 = 0.9, beta2 = 0.99, weight_decay = 0;
    bool maximize = false;
};
// Lion (Chen et al. 2023): the sign of a mean of gradients; weight decay beside it. State: means.
[[nodiscard]] Optimizer lion(const LionOptions& options = {});

// ----- clipping, before the step

// Every element between -limit and limit: torch's clip_grad_value_.
[[nodiscard]] std::vector<Tensor> clip_by_value(const std::vector<Tensor>& gradients, double limit);
// The norm of all elements together, of any positive order, infinity too.
[[nodiscard]] Tensor global_norm(const std::vector<Tensor>& gradients, double order = 2);
struct Clipped {
    std::vector<Tensor> gradients;
    Tensor norm;  // before
};
// All gradients times min(1, maximum / (norm + 1e-6)): torch's clip_grad_norm_.
[[nodiscard]] Clipped clip_by_global_norm(const std::vector<Tensor>& gradients, double maximum,
                                          double order = 2);

}  // namespace composit::nn
