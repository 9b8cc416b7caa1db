// What rules of optimisers share.
#pragma once

#include "composit/aten/optimizers.h"
#include "composit/aten/rows.h"

#include <string_view>

namespace composit::aten {

// What is kept under a name; zeros of x's shape and dtype where nothing is yet.
[[nodiscard]] Tensor held(const State& state, std::string_view name, const Tensor& x);
// Counts a step of a parameter: its number, 1 for the first.
double counted(KeptNumbers& kept);
// The gradient, its sign turned where it is maximised, with weight decay added.
[[nodiscard]] Tensor decayed(const Tensor& x, const Tensor& gradient, bool maximize,
                             double weight_decay);

// x scaled by a number, and divided.
[[nodiscard]] inline Tensor operator*(const Tensor& x, const Number& number) {
    return x * number.operand();
}
[[nodiscard]] inline Tensor operator/(const Tensor& x, const Number& number) {
    return x / number.operand();
}

}  // namespace composit::aten
