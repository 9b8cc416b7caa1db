// Optimisers whose rates adapt to each parameter: Adagrad, RMSprop, Adadelta, Rprop, ASGD.
#include "composit/aten/rules.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::aten {
namespace {

// Of rules whose only number is the learning rate.
Numbers rate_alone(const Number& rate, KeptNumbers&) { return {rate}; }

}  // namespace

Rule rmsprop(const RmspropOptions& o) {
    return {{"lr"},
            {},
            {"square_avg", "grad_avg", "momentum_buffer"},
            rate_alone,
            [o](const Tensor& x, const Tensor& given, State& state, const Numbers& numbers) {
                const Tensor gradient = decayed(x, given, o.maximize, o.weight_decay);
                Tensor square =
                    held(state, "square_avg", x) * o.alpha + gradient * gradient * (1 - o.alpha);
                state["square_avg"] = square;
                if (o.centered) {
                    Tensor mean = held(state, "grad_avg", x);
                    mean = mean + (gradient - mean) * (1 - o.alpha);
                    state["grad_avg"] = mean;
                    square = square - mean * mean;
                }
                Tensor direction = gradient / (rows::sqrt(square) + o.eps);
                if (o.momentum != 0) {
                    direction = held(state, "momentum_buffer", x) * o.momentum + direction;
                    state["momentum_buffer"] = direction;
                }
                return x - direction * numbers[0];
            }};
}

Rule adagrad(const AdagradOptions& o) {
    return {{"_rate"},
            {"step"},
            {"sum"},
            [o](const Number& rate, KeptNumbers& kept) -> Numbers {
                const double step = counted(kept);
                return {rate / (1 + (step - 1) * o.lr_decay)};
            },
            [o](const Tensor& x, const Tensor& given, State& state, const Numbers& numbers) {
                const Tensor gradient = decayed(x, given, o.maximize, o.weight_decay);
                Tensor total = held(state, "sum", x);
                if (!state.contains("sum")) total = total + o.initial_accumulator_value;
                total = total + gradient * gradient;
                state["sum"] = total;
                return x - gradient / (rows::sqrt(total) + o.eps) * numbers[0];
            }};
}

Rule adadelta(const AdadeltaOptions& o) {
    return {{"lr"},
            {},
            {"square_avg", "acc_delta"},
            rate_alone,
            [o](const Tensor& x, const Tensor& given, State& state, const Numbers& numbers) {
                const Tensor gradient = decayed(x, given, o.maximize, o.weight_decay);
                const Tensor square =
                    held(state, "square_avg", x) * o.rho + gradient * gradient * (1 - o.rho);
                const Tensor steps = held(state, "acc_delta", x);
                const Tensor delta =
                    rows::sqrt(steps + o.eps) / rows::sqrt(square + o.eps) * gradient;
                state["square_avg"] = square;
                state["acc_delta"] = steps * o.rho + delta * delta * (1 - o.rho);
                return x - delta * numbers[0];
            }};
}

Rule rprop(const RpropOptions& o) {
    return {{},
            {},
            {"prev", "step_size"},
            [](const Number&, KeptNumbers&) -> Numbers { return {}; },
            [o](const Tensor& x, const Tensor& given, State& state, const Numbers&) {
                Tensor gradient = decayed(x, given, o.maximize, 0);
                const Tensor before = held(state, "prev", x);
                const auto kept = state.find("step_size");
                Tensor size = kept == state.end() ? numpy::full(x.shape(), o.first_size, x.dtype())
                                                  : kept->second;
                const Tensor agreement = gradient * before, turned = agreement < 0;
                const Tensor factor =
                    rows::where(turned, o.small, rows::where(agreement > 0, o.large, 1.0));
                size = numpy::clip(size * ops::astype(factor, x.dtype()), o.least, o.greatest);
                gradient = rows::where(turned, rows::zero_of(x), gradient);
                state["prev"] = gradient;
                state["step_size"] = size;
                return x - rows::sign(gradient) * size;
            }};
}

Rule asgd(const AsgdOptions& o) {
    return {{"_rate", "_faded", "_mu"},
            {"step", "eta", "mu"},
            {"ax"},
            [o](const Number& rate, KeptNumbers& kept) -> Numbers {
                const double step = counted(kept);
                const auto found = [&](const char* name, const Number& otherwise) {
                    const auto at = kept.find(name);
                    return at == kept.end() ? otherwise : at->second;
                };
                const Number eta = found("eta", rate), mu = found("mu", 1.0);
                kept.insert_or_assign("eta", rate / power(1 + o.lambd * rate * step, o.alpha));
                kept.insert_or_assign("mu", 1 / std::max(1.0, step - o.t0));
                return {eta, 1 - o.lambd * eta, mu};
            },
            [o](const Tensor& before, const Tensor& given, State& state, const Numbers& numbers) {
                const Tensor gradient = decayed(before, given, o.maximize, o.weight_decay);
                const Tensor x = before * numbers[1] - gradient * numbers[0];
                const Tensor average = held(state, "ax", x);
                // A choice of values, so that steps before and after t0 have one structure.
                const Tensor is_first = rows::equal(numbers[2].operand(), 1.0);
                state["ax"] = rows::where(is_first, x, average + (x - average) * numbers[2]);
                return x;
            }};
}

}  // namespace composit::aten
