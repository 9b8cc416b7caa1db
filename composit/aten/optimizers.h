// PyTorch's optimisers: rules that say what becomes of one parameter in one step.
//
// A rule makes nodes and keeps nothing itself. `numbers` gives what differs from step to step
// beside tensors; `update` is the step's graph over those numbers, so steps share one structure.
// Formulas, and the names of what is kept, are PyTorch's of torch.optim's class of the name.
//
//   aten::Optimizer optimizer({weight}, aten::adam({.amsgrad = true}), 1e-3);
//   const Tensor loss = aten::mse_loss(x, y);
//   optimizer.step(nn::chain_rule({{loss, loss}}, optimizer.parameters()));
#pragma once

#include "composit/aten/number.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace composit::aten {

// What an optimiser keeps of a parameter: tensors ("exp_avg") and numbers ("step").
using State = std::map<std::string, Tensor, std::less<>>;
using KeptNumbers = std::map<std::string, Number, std::less<>>;

struct Rule {
    // Of what `numbers` returns; of what it reads and writes in `kept`; of tensors of the state.
    // All in PyTorch's order.
    std::vector<std::string> names, kept_names, state_names;
    // The numbers of the next step; those that are kept are counted on. A learning rate that is a
    // tensor gives tensors of no dimensions.
    std::function<Numbers(const Number& learning_rate, KeptNumbers& kept)> numbers;
    // The new parameter, lazy; tensors of the state are replaced by new ones, and begin where none
    // are. The gradient has the parameter's shape and dtype.
    std::function<Tensor(const Tensor& parameter, const Tensor& gradient, State& state,
                         const Numbers& numbers)>
        update;
};

// Options have torch.optim's names and defaults. `maximize`: along the gradient, not against it.

struct SgdOptions {
    double momentum = 0, dampening = 0, weight_decay = 0;
    bool nesterov = false, maximize = false;
};
// parameter - rate * gradient, with momentum. Keeps momentum_buffer.
[[nodiscard]] Rule sgd(const SgdOptions& options = {});

struct AdamOptions {
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
    bool amsgrad = false, maximize = false, decoupled_weight_decay = false;
};
// Adam (Kingma and Ba 2015), AdamW with decoupled weight decay. Keeps step, exp_avg, exp_avg_sq,
// with amsgrad max_exp_avg_sq.
[[nodiscard]] Rule adam(const AdamOptions& options = {});

struct NadamOptions {
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0, momentum_decay = 4e-3;
    bool maximize = false, decoupled_weight_decay = false;
};
// Adam with Nesterov's momentum (Dozat 2016). Keeps step, mu_product, exp_avg, exp_avg_sq.
[[nodiscard]] Rule nadam(const NadamOptions& options = {});

struct RadamOptions {
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
    bool maximize = false, decoupled_weight_decay = false;
};
// Adam, rectified where the variance is known well enough (Liu et al. 2020). Keeps step, exp_avg,
// exp_avg_sq.
[[nodiscard]] Rule radam(const RadamOptions& options = {});

struct AdamaxOptions {
    double beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
    bool maximize = false;
};
// Adam by the largest gradient (Kingma and Ba 2015). Keeps step, exp_avg, exp_inf.
[[nodiscard]] Rule adamax(const AdamaxOptions& options = {});

struct RmspropOptions {
    double alpha = 0.99, eps = 1e-8, weight_decay = 0, momentum = 0;
    bool centered = false, maximize = false;
};
// RMSprop (Hinton). Keeps square_avg, with momentum momentum_buffer, centered grad_avg.
[[nodiscard]] Rule rmsprop(const RmspropOptions& options = {});

struct AdagradOptions {
    double lr_decay = 0, weight_decay = 0, initial_accumulator_value = 0, eps = 1e-10;
    bool maximize = false;
};
// Adagrad (Duchi et al. 2011). Keeps step, sum.
[[nodiscard]] Rule adagrad(const AdagradOptions& options = {});

struct AdadeltaOptions {
    double rho = 0.9, eps = 1e-6, weight_decay = 0;
    bool maximize = false;
};
// Adadelta (Zeiler 2012). Keeps square_avg, acc_delta.
[[nodiscard]] Rule adadelta(const AdadeltaOptions& options = {});

struct RpropOptions {
    double first_size = 1e-2;  // the learning rate, from which sizes of steps begin
    double small = 0.5, large = 1.2, least = 1e-6, greatest = 50;
    bool maximize = false;
};
// Steps by the gradients' signs (Riedmiller and Braun 1993). Keeps prev, step_size.
[[nodiscard]] Rule rprop(const RpropOptions& options = {});

struct AsgdOptions {
    double lambd = 1e-4, alpha = 0.75, t0 = 1e6, weight_decay = 0;
    bool maximize = false;
};
// Averaged descent (Polyak and Juditsky 1992). Keeps step, eta, mu, and the average ax.
[[nodiscard]] Rule asgd(const AsgdOptions& options = {});

struct AdafactorOptions {
    double beta2_decay = -0.8;
    std::optional<double> epsilon1 = {};  // none: the dtype's distance from 1 to the next number
    double epsilon2 = 1e-3, d = 1, weight_decay = 0;
    bool maximize = false;
};
// Mean squares of rows and columns (Shazeer and Stern 2018). Keeps step, row_var and col_var, of
// vectors variance.
[[nodiscard]] Rule adafactor(const AdafactorOptions& options = {});

struct MuonOptions {
    double weight_decay = 0.1, momentum = 0.95, eps = 1e-7;
    double a = 3.4445, b = -4.775, c = 2.0315;  // ns_coefficients
    int64_t ns_steps = 5;
    bool nesterov = true, match_rms_adamw = false;
};
// Of matrices: the momentum's nearest orthogonal matrix, about, by steps of Newton and Schulz in
// bfloat16 (Jordan 2024). Keeps momentum_buffer.
[[nodiscard]] Rule muon(const MuonOptions& options = {});

// ----- options

// Options by torch.optim's names; "betas[0]" is the first of a pair.
using Options = std::map<std::string, Number, std::less<>>;
// What the constructor of torch.optim's class requires: ValueError, PyTorch's words, for an option
// out of its bounds. Classes have their names in small letters: "sgd", "adam", "nadam", "radam",
// "adamax", "sparseadam", "rmsprop", "adagrad", "adadelta", "rprop", "asgd", "adafactor", "muon",
// "lbfgs". Tensors, and options that are left out, are not looked at.
void check_optimizer_options(std::string_view optimizer, const Options& options);

// ----- training in C++

// Parameters that a rule changes. Each step is computed when it is called.
class Optimizer {
  public:
    // ValueError: no parameters, or a learning rate below zero. TypeError: a parameter that is not
    // real and floating.
    Optimizer(std::vector<Tensor> parameters, Rule rule, double learning_rate);

    // One step. ValueError unless there is one gradient of each parameter's shape and dtype.
    void step(const std::vector<Tensor>& gradients);
    // The parameters with their values; new ones after each step.
    [[nodiscard]] const std::vector<Tensor>& parameters() const { return parameters_; }
    // What is kept of a parameter. ValueError for a number that no parameter has.
    [[nodiscard]] const State& state(size_t number) const;

    double learning_rate = 0;

  private:
    std::vector<Tensor> parameters_;
    Rule rule_;
    std::vector<State> states_;
    std::vector<KeptNumbers> kept_;
};

}  // namespace composit::aten
