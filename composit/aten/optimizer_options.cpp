// Bounds of optimisers' options.
#include "composit/aten/optimizers.h"
#include "composit/base/error.h"

#include <limits>

namespace composit::aten {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Between two bounds, the greatest of which is left out if it is open. What stands before the
// number in the message; the optimisers, or all that have the option.
struct Bounds {
    std::string_view option, text;
    double least = 0, greatest = infinity;
    bool is_open = false;
    std::string_view optimizers = {};
};
constexpr Bounds all_bounds[] = {
    {"lr", "Invalid learning rate: "},
    {"momentum", "Invalid momentum value: "},
    {"lr_decay", "Invalid lr_decay value: "},
    {"eps", "Invalid epsilon value: ", 0, infinity, false,
     "adam nadam radam adamax sparseadam rmsprop adagrad adadelta"},
    {"weight_decay", "Invalid weight_decay value: "},
    {"alpha", "Invalid alpha value: ", 0, infinity, false, "rmsprop"},
    {"initial_accumulator_value", "Invalid initial_accumulator_value value: "},
    {"betas[0]", "Invalid beta parameter at index 0: ", 0, 1, true},
    {"betas[1]", "Invalid beta parameter at index 1: ", 0, 1, true},
    {"rho", "Invalid rho value: ", 0, 1},
    {"beta2_decay", "beta2_decay should be <= 0 but is: ", -infinity, 0},
    {"eps[0]", "epsilon1 should be >= 0 but is: "},
    {"eps[1]", "epsilon2 should be >= 0 but is: "},
    {"d", "Clipping threshold d should be >= 1 but is: ", 1},
};

bool is_of(const Bounds& bounds, std::string_view optimizer) {
    if (bounds.optimizers.empty()) return true;
    const std::string list = " " + std::string(bounds.optimizers) + " ";
    return list.find(" " + std::string(optimizer) + " ") != std::string::npos;
}

// The number of an option; nothing for what is left out, and for tensors.
const Number* known(const Options& options, std::string_view name) {
    const auto found = options.find(name);
    return found == options.end() || !found->second.is_known() ? nullptr : &found->second;
}

}  // namespace

void check_optimizer_options(std::string_view optimizer, const Options& options) {
    for (const Bounds& bounds : all_bounds) {
        const Number* const number = known(options, bounds.option);
        if (!number || !is_of(bounds, optimizer)) continue;
        const double value = number->value();
        const bool is_below = bounds.is_open ? value < bounds.greatest : value <= bounds.greatest;
        user_check(value >= bounds.least && is_below, bounds.text, text_of(*number));
    }
    const Number *small = known(options, "etas[0]"), *large = known(options, "etas[1]");
    if (small && large)
        user_check(0 < small->value() && small->value() < 1 && 1 < large->value(),
                   "Invalid eta values: ", text_of(*small), ", ", text_of(*large));
    if (const Number* nesterov = known(options, "nesterov");
        nesterov && nesterov->value() != 0 && optimizer == "sgd")
        user_check(options.at("momentum").value() > 0 && options.at("dampening").value() == 0,
                   "Nesterov momentum requires a momentum and zero dampening");
}

}  // namespace composit::aten
