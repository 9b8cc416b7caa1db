// Adam and its variants.
#include "composit/aten/rules.h"

#include <cmath>

namespace composit::aten {
namespace {

struct Means {
    Tensor first, second;
};

// The means of gradients and of their squares.
Means means(const Tensor& x, const Tensor& gradient, State& state, double beta1, double beta2) {
    const Tensor first = held(state, "exp_avg", x), second = held(state, "exp_avg_sq", x);
    Means made{first + (gradient - first) * (1 - beta1),
               second * beta2 + gradient * gradient * (1 - beta2)};
    state["exp_avg"] = made.first;
    state["exp_avg_sq"] = made.second;
    return made;
}

struct Pair {
    Tensor x, gradient;
};

// Parameter and gradient after weight decay, which acts on one of them: `kept` is what it leaves of
// the parameter.
template <class Options>
Pair after_decay(const Tensor& x, const Tensor& gradient, const Options& o, const Number& kept) {
    if (!o.decoupled_weight_decay) return {x, decayed(x, gradient, o.maximize, o.weight_decay)};
    return {x * kept, o.maximize ? -gradient : gradient};
}

}  // namespace

Rule adam(const AdamOptions& o) {
    return {{"_kept", "_root", "_rate"},
            {"step"},
            {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"},
            [o](const Number& rate, KeptNumbers& kept) -> Numbers {
                const double step = counted(kept);
                return {1 - rate * o.weight_decay, std::pow(1 - std::pow(o.beta2, step), 0.5),
                        rate / (1 - std::pow(o.beta1, step))};
            },
            [o](const Tensor& before, const Tensor& given, State& state, const Numbers& numbers) {
                const auto [x, gradient] = after_decay(before, given, o, numbers[0]);
                auto [first, second] = means(x, gradient, state, o.beta1, o.beta2);
                if (o.amsgrad) {
                    const auto largest = state.find("max_exp_avg_sq");
                    if (largest != state.end()) second = rows::maximum(largest->second, second);
                    state["max_exp_avg_sq"] = second;
                }
                const Tensor root = rows::sqrt(second) / numbers[1] + o.eps;
                return x - first / root * numbers[2];
            }};
}

Rule nadam(const NadamOptions& o) {
    return {{"_kept", "_bias", "_now", "_ahead"},
            {"step", "mu_product"},
            {"exp_avg", "exp_avg_sq"},
            [o](const Number& rate, KeptNumbers& kept) -> Numbers {
                const double step = counted(kept), psi = o.momentum_decay;
                const double mu = o.beta1 * (1.0 - 0.5 * std::pow(0.96, step * psi));
                const double ahead = o.beta1 * (1.0 - 0.5 * std::pow(0.96, (step + 1) * psi));
                const auto before = kept.find("mu_product");
                const double product = (before == kept.end() ? 1.0 : before->second.value()) * mu;
                kept.insert_or_assign("mu_product", product);
                return {1 - rate * o.weight_decay, 1 - std::pow(o.beta2, step),
                        rate * (1.0 - mu) / (1.0 - product),
                        rate * ahead / (1.0 - product * ahead)};
            },
            [o](const Tensor& before, const Tensor& given, State& state, const Numbers& numbers) {
                const auto [x, gradient] = after_decay(before, given, o, numbers[0]);
                const auto [first, second] = means(x, gradient, state, o.beta1, o.beta2);
                const Tensor root = rows::sqrt(second / numbers[1]) + o.eps;
                return x - gradient / root * numbers[2] - first / root * numbers[3];
            }};
}

Rule radam(const RadamOptions& o) {
    return {{"_kept", "_bias", "_rate", "_scale", "_rectified"},
            {"step"},
            {"exp_avg", "exp_avg_sq"},
            [o](const Number& rate, KeptNumbers& kept) -> Numbers {
                const double step = counted(kept), most = 2 / (1 - o.beta2) - 1;
                const double fading = std::pow(o.beta2, step);
                const double now = most - 2 * step * fading / (1 - fading);
                double factor = 0.0;
                if (now > 5.0)
                    factor = std::pow(
                        (now - 4) * (now - 2) * most / ((most - 4) * (most - 2) * now), 0.5);
                return {1 - rate * o.weight_decay, 1 - std::pow(o.beta1, step), rate,
                        std::pow(1 - fading, 0.5), factor};
            },
            [o](const Tensor& before, const Tensor& given, State& state, const Numbers& numbers) {
                const auto [x, gradient] = after_decay(before, given, o, numbers[0]);
                const auto [first, second] = means(x, gradient, state, o.beta1, o.beta2);
                const Tensor plain = first / numbers[1] * numbers[2];
                const Tensor adapted = numbers[3].operand() / (rows::sqrt(second) + o.eps);
                const Tensor rectified = plain * adapted * numbers[4];
                // A choice of values, so that steps before and after have one structure.
                const Tensor is_known = numpy::apply("greater", {numbers[4].operand(), 0.0});
                return x - rows::where(is_known, rectified, plain);
            }};
}

Rule adamax(const AdamaxOptions& o) {
    return {{"_rate"},
            {"step"},
            {"exp_avg", "exp_inf"},
            [o](const Number& rate, KeptNumbers& kept) -> Numbers {
                return {rate / (1 - std::pow(o.beta1, counted(kept)))};
            },
            [o](const Tensor& x, const Tensor& given, State& state, const Numbers& numbers) {
                const Tensor gradient = decayed(x, given, o.maximize, o.weight_decay);
                Tensor mean = held(state, "exp_avg", x);
                mean = mean + (gradient - mean) * (1 - o.beta1);
                const Tensor largest =
                    rows::maximum(held(state, "exp_inf", x) * o.beta2, rows::abs(gradient) + o.eps);
                state["exp_avg"] = mean;
                state["exp_inf"] = largest;
                return x - mean / largest * numbers[0];
            }};
}

}  // namespace composit::aten
