// PyTorch's draws of distributions that composit::random has not: by keys, as all draws.
#pragma once

#include "composit/random/keys.h"

#include <cstdint>

namespace composit::aten {

using ir::Tensor;

// Places, int64, of weights (…, classes), `count` of each row, each with a probability proportional
// to its weight; without replacement no place twice. RuntimeError, PyTorch's words, for a count
// below 1 or, without replacement, above the number of classes; TypeError for weights that are no
// floats.
[[nodiscard]] Tensor multinomial(const Tensor& key, const Tensor& weights, int64_t count,
                                 bool replacement = false);

// Draws of Dirichlet's distribution of concentrations (…, classes), of their dtype: between its
// smallest normal number and 1. Gradients reach the concentrations.
[[nodiscard]] Tensor dirichlet(const Tensor& key, const Tensor& concentration);

}  // namespace composit::aten
