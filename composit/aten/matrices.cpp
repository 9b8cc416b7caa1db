// Optimisers of matrices: Adafactor, which keeps means of rows and columns, and Muon, whose
// directions are orthogonal.
#include "composit/aten/dtypes.h"
#include "composit/aten/rules.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cmath>

namespace composit::aten {
namespace {

using ir::DType;

Tensor root_mean_square(const Tensor& x) { return rows::sqrt(numpy::mean(x * x)); }

// The running mean under a name, with `new_one` taken in.
Tensor mean_with(State& state, std::string_view name, const Tensor& new_one, const Number& taken) {
    const Tensor before = held(state, name, new_one);
    const Tensor made = before + (new_one - before) * taken;
    state.insert_or_assign(std::string(name), made);
    return made;
}

// In float32, of bfloat16's precision.
Tensor rounded(const Tensor& x) {
    return ops::astype(ops::astype(x, DType::bfloat16), DType::float32);
}

// The nearest orthogonal matrix, about. Each product, with what is added to it, is rounded to
// bfloat16 once.
Tensor orthogonal(const Tensor& matrix, const MuonOptions& o) {
    const bool is_tall = matrix.shape()[0] > matrix.shape()[1];
    Tensor x = rounded(is_tall ? numpy::transpose(matrix) : matrix);
    const Tensor norm = rows::maximum(rounded(rows::sqrt(numpy::sum(x * x))), o.eps);
    x = rounded(x / norm);
    for (int64_t i = 0; i < o.ns_steps; ++i) {
        const Tensor gram = rounded(numpy::matmul(x, numpy::transpose(x)));
        const Tensor polynomial = rounded(gram * o.b + numpy::matmul(gram, gram) * o.c);
        x = rounded(x * o.a + numpy::matmul(polynomial, x));
    }
    return ops::astype(is_tall ? numpy::transpose(x) : x, matrix.dtype());
}

}  // namespace

Rule adafactor(const AdafactorOptions& o) {
    return {
        {"_taken", "_most", "_left"},
        {"step"},
        {"row_var", "col_var", "variance"},
        [o](const Number& learning_rate, KeptNumbers& kept) -> Numbers {
            const double step = counted(kept), rate = learning_rate.value();
            return {std::pow(step, o.beta2_decay), std::min(rate, 1 / std::sqrt(step)),
                    1.0 - rate * o.weight_decay};
        },
        [o](const Tensor& before, const Tensor& given, State& state, const Numbers& numbers) {
            const double least = o.epsilon1.value_or(epsilon_of(before.dtype()));
            const Tensor gradient = o.maximize ? -given : given;
            const Tensor rate = rows::maximum(root_mean_square(before), o.epsilon2) * numbers[1];
            const Tensor x = o.weight_decay != 0 ? before * numbers[2] : before;
            const Tensor square = gradient * gradient;
            Tensor estimate;
            if (gradient.rank() > 1) {
                const Tensor by_row =
                    mean_with(state, "row_var", numpy::mean(square, -1, {}, true), numbers[0]);
                const Tensor by_column =
                    mean_with(state, "col_var", numpy::mean(square, -2, {}, true), numbers[0]);
                const Tensor whole = rows::maximum(numpy::mean(by_row, -2, {}, true), least);
                estimate = by_row * by_column / whole;
            } else {
                estimate = mean_with(state, "variance", square, numbers[0]);
            }
            const Tensor direction = gradient / rows::sqrt(rows::maximum(estimate, least * least));
            const Tensor clipped = rows::maximum(root_mean_square(direction) / o.d, 1.0);
            return x - direction * (rate / clipped);
        }};
}

Rule muon(const MuonOptions& o) {
    return {{"lr", "_left"},
            {},
            {"momentum_buffer"},
            [o](const Number& rate, KeptNumbers&) -> Numbers {
                return {rate, 1 - rate * o.weight_decay};
            },
            [o](const Tensor& x, const Tensor& gradient, State& state, const Numbers& numbers) {
                Tensor momentum = held(state, "momentum_buffer", x);
                momentum = momentum + (gradient - momentum) * (1 - o.momentum);
                state["momentum_buffer"] = momentum;
                const Tensor direction = orthogonal(
                    o.nesterov ? gradient + (momentum - gradient) * o.momentum : momentum, o);
                const auto height = static_cast<double>(x.shape()[0]),
                           width = static_cast<double>(x.shape()[1]);
                const double factor = o.match_rms_adamw ? 0.2 * std::sqrt(std::max(height, width))
                                                        : std::sqrt(std::max(1.0, height / width));
                return x * numbers[1] - direction * (numbers[0] * factor);
            }};
}

}  // namespace composit::aten
