// Optimisers made of others: gradients clipped, summed over several steps, or scaled, on their way.
//
// Each puts its own state before that of the optimiser within. What is decided by values (whether a
// step is made) is decided in the graph, so that a compiled step needs no look at them.
#pragma once

#include "composit/nn/optimizers.h"

#include <cstdint>
#include <vector>

namespace composit::nn {

// Gradients go through clip_by_global_norm. No state of its own.
[[nodiscard]] Optimizer clipping(const Optimizer& optimizer, double maximum, double order = 2);

// Every `steps`-th step is made, with the mean of the gradients since the last one; the others
// leave parameters as they are. State: how many are summed (int64), and the sums.
[[nodiscard]] Optimizer accumulating(const Optimizer& optimizer, int64_t steps);

struct LossScaleOptions {
    double initial = 65536, growth = 2, backoff = 0.5;
    int64_t interval = 2000;
};
// For losses in float16, whose gradients vanish or overflow: takes gradients of scale_loss(loss,
// state). Where one of them is not finite, the step is left out and the scale multiplied by
// `backoff`; after `interval` steps without that by `growth`. torch's GradScaler. State: the scale
// (float32), and how many steps it is as it is (int64).
//
// Where gradients are to be clipped: loss_scaling(clipping(adam(), 1.0)).
[[nodiscard]] Optimizer loss_scaling(const Optimizer& optimizer,
                                     const LossScaleOptions& options = {});
// The loss times the scale that `state`, loss_scaling's, begins with; at least float32.
[[nodiscard]] Tensor scale_loss(const Tensor& loss, const std::vector<Tensor>& state);

// The tensors of real floating dtypes converted to another one, the others as they are: weights in
// the precision in which a model computes. Gradients come back in the dtype of what was converted.
[[nodiscard]] std::vector<Tensor> cast_floating(const std::vector<Tensor>& tensors,
                                                ir::DType dtype);

}  // namespace composit::nn
