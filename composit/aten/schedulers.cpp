// Formulas of learning rates, in the order of PyTorch's arithmetic.
#include "composit/aten/schedulers.h"

#include "composit/base/error.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace composit::aten {
namespace {

double cosine(double x) { return std::cos(std::numbers::pi * x); }

}  // namespace

Schedule step_lr(double step_size, double gamma) {
    return {[=](const Number& rate, const Number&, double epoch) {
                return epoch == 0 || std::fmod(epoch, step_size) != 0 ? rate : rate * gamma;
            },
            [=](const Number& base, double epoch) {
                return base * std::pow(gamma, std::floor(epoch / step_size));
            }};
}

Schedule multi_step_lr(const std::vector<double>& milestones, double gamma) {
    return {[=](const Number& rate, const Number&, double epoch) {
                const auto count = std::count(milestones.begin(), milestones.end(), epoch);
                return rate * std::pow(gamma, static_cast<double>(count));
            },
            [=](const Number& base, double epoch) {
                const auto passed = std::count_if(milestones.begin(), milestones.end(),
                                                  [=](double at) { return at <= epoch; });
                return base * std::pow(gamma, static_cast<double>(passed));
            }};
}

Schedule exponential_lr(double gamma) {
    return {[=](const Number& rate, const Number&, double epoch) {
                return epoch == 0 ? rate : rate * gamma;
            },
            [=](const Number& base, double epoch) { return base * std::pow(gamma, epoch); }};
}

Schedule constant_lr(double factor, double total_iters) {
    return {[=](const Number& rate, const Number&, double epoch) {
                if (epoch == 0) return rate * factor;
                return epoch == total_iters ? rate / factor : rate;
            },
            [=](const Number& base, double epoch) {
                return base * (epoch >= total_iters ? 1.0 : factor);
            }};
}

Schedule linear_lr(double start_factor, double end_factor, double total_iters) {
    const double way = end_factor - start_factor;
    return {[=](const Number& rate, const Number&, double epoch) {
                if (epoch == 0) return rate * start_factor;
                if (epoch > total_iters) return rate;
                return rate * (1.0 + way / (total_iters * start_factor + (epoch - 1) * way));
            },
            [=](const Number& base, double epoch) {
                const double share = std::min(total_iters, epoch) / total_iters;
                return base * (start_factor + way * share);
            }};
}

Schedule polynomial_lr(double total_iters, double exponent) {
    return {[=](const Number& rate, const Number&, double epoch) {
                if (epoch == 0 || epoch > total_iters) return rate;
                const double left = 1.0 - epoch / total_iters,
                             before = 1.0 - (epoch - 1) / total_iters;
                return rate * std::pow(left / before, exponent);
            },
            [=](const Number& base, double epoch) {
                const double left = 1.0 - std::min(total_iters, epoch) / total_iters;
                return base * std::pow(left, exponent);
            }};
}

Schedule cosine_annealing_lr(double t_max, double eta_min) {
    return {[=](const Number& rate, const Number& base, double epoch) {
                if (epoch == 0) return rate;
                if (std::fmod(epoch - 1 - t_max, 2 * t_max) == 0)
                    return rate + (base - eta_min) * ((1 - std::cos(std::numbers::pi / t_max)) / 2);
                const double pi = std::numbers::pi;
                const double ratio =
                    (1 + std::cos(pi * epoch / t_max)) / (1 + std::cos(pi * (epoch - 1) / t_max));
                return ratio * (rate - eta_min) + eta_min;
            },
            [=](const Number& base, double epoch) {
                return cosine_point(base, eta_min, epoch, t_max);
            }};
}

Number cosine_point(const Number& base, double eta_min, double current, double period) {
    const double height = (1 + std::cos(std::numbers::pi * current / period)) / 2;
    return eta_min + (base - eta_min) * height;
}

void check_restarts(const Number& t_0, const Number& t_mult) {
    user_check(t_0.is_whole() && t_0.value() > 0, "Expected positive integer T_0, but got ",
               text_of(t_0));
    user_check(t_mult.is_whole() && t_mult.value() >= 1, "Expected integer T_mult >= 1, but got ",
               text_of(t_mult));
}

Restart restart_at(const Number& epoch, double t_0, double t_mult) {
    user_check(epoch.value() >= 0, "Expected non-negative epoch, but got ", text_of(epoch));
    Restart made{epoch.value(), t_0};
    while (made.current >= made.period) {
        made.current -= made.period;
        made.period *= t_mult;
    }
    return made;
}

CyclePoint cycle_point(double epoch, double total_size, double step_ratio) {
    const double cycle = std::floor(1 + epoch / total_size);
    const double x = 1.0 + epoch / total_size - cycle;
    return {x <= step_ratio ? x / step_ratio : (x - 1) / (step_ratio - 1), cycle};
}

Number cycled(const Number& low, const Number& high, double height, double scale) {
    return low + (high - low) * height * scale;
}

Number annealed(const Number& start, const Number& end, double share, bool is_cosine) {
    if (is_cosine) return end + (start - end) / 2.0 * (cosine(share) + 1);
    return (end - start) * share + start;
}

int64_t cycle_steps(const std::optional<Number>& total_steps, const std::optional<Number>& epochs,
                    const std::optional<Number>& steps_per_epoch) {
    const auto checked = [](std::string_view name, const Number& number) {
        user_check(number.is_whole() && number.value() > 0, "Expected positive integer ", name,
                   ", but got ", text_of(number));
        return static_cast<int64_t>(number.value());
    };
    if (total_steps) return checked("total_steps", *total_steps);
    user_check(epochs && steps_per_epoch,
               "You must define either total_steps OR (epochs AND steps_per_epoch)");
    const int64_t count = checked("epochs", *epochs);
    return count * checked("steps_per_epoch", *steps_per_epoch);
}

bool is_cosine_strategy(std::string_view strategy) {
    user_check(strategy == "cos" || strategy == "linear",
               "anneal_strategy must be one of 'cos' or 'linear', instead got ", strategy);
    return strategy == "cos";
}

bool is_cosine_of_averages(std::string_view strategy) {
    user_check(strategy == "cos" || strategy == "linear",
               "anneal_strategy must by one of 'cos' or 'linear', instead got ", strategy);
    return strategy == "cos";
}

std::string scale_mode(std::string_view mode, std::string_view given, bool has_function) {
    const bool is_known = mode == "triangular" || mode == "triangular2" || mode == "exp_range";
    user_check(is_known || has_function, "mode is invalid and scale_fn is None");
    if (has_function) return std::string(given);
    return mode == "exp_range" ? "iterations" : "cycle";
}

std::vector<CyclePart> one_cycle(int64_t total_steps, const Number& part, bool three_phase) {
    using enum CycleRate;
    const double pct_start = part.value();
    user_check(!part.is_whole() && 0 <= pct_start && pct_start <= 1,
               "Expected float between 0 and 1 pct_start, but got ", text_of(part));
    const auto steps = static_cast<double>(total_steps);
    const CyclePart rise = {pct_start * steps - 1, initial, largest, CycleMomentum::largest,
                            CycleMomentum::base};
    if (!three_phase)
        return {rise, {steps - 1, largest, least, CycleMomentum::base, CycleMomentum::largest}};
    return {
        rise,
        {2 * pct_start * steps - 2, largest, initial, CycleMomentum::base, CycleMomentum::largest},
        {steps - 1, initial, least, CycleMomentum::largest, CycleMomentum::largest}};
}

CyclePosition position_in(const std::vector<CyclePart>& cycle, double epoch) {
    size_t part = 0;
    while (part + 1 < cycle.size() && epoch > cycle[part].end) ++part;
    const double start = part > 0 ? cycle[part - 1].end : 0;
    return {part, (epoch - start) / (cycle[part].end - start)};
}

double cycle_scale(std::string_view mode, double number, double gamma) {
    if (mode == "triangular") return 1;
    if (mode == "triangular2") return 1 / std::pow(2.0, number - 1);
    user_check(mode == "exp_range", "mode is invalid and scale_fn is None");
    return std::pow(gamma, number);
}

double annealed_share(double step, double anneal_steps, bool is_cosine) {
    if (anneal_steps == 0 && step >= 0) return 1;
    const double share = std::clamp(step / std::max(1.0, anneal_steps), 0.0, 1.0);
    return is_cosine ? (1 - std::cos(std::numbers::pi * share)) / 2 : share;
}

double averaging_rate(double rate, double last, double share_before, double share) {
    const double start =
        share_before == 1 ? last : (rate - share_before * last) / (1 - share_before);
    return last * share + start * (1 - share);
}

PlateauOptions plateau_options(double factor, std::string_view mode,
                               std::string_view threshold_mode, double threshold) {
    user_check(factor < 1, "Factor should be < 1.0.");
    user_check(mode == "min" || mode == "max", "mode ", mode, " is unknown!");
    user_check(threshold_mode == "rel" || threshold_mode == "abs", "threshold mode ",
               threshold_mode, " is unknown!");
    return {
        .is_max = mode == "max", .is_absolute = threshold_mode == "abs", .threshold = threshold};
}

double reduced_rate(double rate, double factor, double least, double eps) {
    const double reduced = std::max(rate * factor, least);
    return rate - reduced > eps ? reduced : rate;
}

bool is_better(double metric, double best, const PlateauOptions& o) {
    const double sign = o.is_max ? 1 : -1;
    const double bound =
        o.is_absolute ? best + sign * o.threshold : best * (1 + sign * o.threshold);
    return o.is_max ? metric > bound : metric < bound;
}

bool reduces(Plateau& seen, double metric, const PlateauOptions& o) {
    if (is_better(metric, seen.best, o)) {
        seen.best = metric;
        seen.bad_epochs = 0;
    } else {
        ++seen.bad_epochs;
    }
    if (seen.cooldown > 0) {
        --seen.cooldown;
        seen.bad_epochs = 0;
    }
    if (seen.bad_epochs <= o.patience) return false;
    seen.cooldown = o.cooldown;
    seen.bad_epochs = 0;
    return true;
}

}  // namespace composit::aten
