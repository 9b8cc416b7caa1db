// Scaled losses, so that gradients of float16 do not vanish: PyTorch's torch.amp.GradScaler.
//
//   LossScale scale;
//   const Tensor scaled = loss * scale.value();      // and its gradients
//   if (scale.unscale(gradients)) optimizer.step(gradients);
//   scale.update();
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::aten {

using ir::Tensor;

struct LossScaleOptions {
    double initial = 65536, growth_factor = 2, backoff_factor = 0.5;
    int64_t growth_interval = 2000;
};

// The scale of losses: smaller after a gradient that is infinite or NaN, larger where none was for
// growth_interval updates.
class LossScale {
  public:
    // AssertionError, PyTorch's words, for a growth that is none, or a backoff that is none.
    explicit LossScale(const LossScaleOptions& options = {});

    [[nodiscard]] double value() const { return value_; }
    [[nodiscard]] int64_t updates_since_change() const { return updates_; }
    // Goes on from a scale after so many updates without a change.
    void set(double value, int64_t updates_since_change);

    // Gradients divided by the scale, in place of the list's. Whether all are finite: they are
    // evaluated. It counts for the next update.
    bool unscale(std::vector<Tensor>& gradients);
    // That gradients, which somebody else divided, are finite.
    void note(bool are_finite);
    // After the steps. AssertionError, PyTorch's words, where no gradients were looked at.
    void update();

    LossScaleOptions options;

  private:
    double value_;
    int64_t updates_ = 0;
    std::optional<bool> are_finite_;  // all that were looked at since the last update
};

// Whether all elements of all tensors are finite, as one boolean that is not evaluated yet; true of
// none.
[[nodiscard]] Tensor all_finite(const std::vector<Tensor>& tensors);

}  // namespace composit::aten
