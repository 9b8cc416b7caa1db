// PyTorch's normalisations. Those of training give the running statistics anew.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::aten {

using ir::Tensor;

// Over the last `count` axes. weight and bias may be left out, here and below.
[[nodiscard]] Tensor layer_norm(const Tensor& x, int64_t count, const Tensor& weight,
                                const Tensor& bias, double eps = 1e-5);
// x divided by its root mean square over the last `count` axes; floats of 16 bits are computed in
// float32. eps: the dtype's distance from 1 to the next number unless given.
[[nodiscard]] Tensor rms_norm(const Tensor& x, int64_t count, const Tensor& weight,
                              std::optional<double> eps = {});
[[nodiscard]] Tensor group_norm(const Tensor& x, int64_t groups, const Tensor& weight,
                                const Tensor& bias, double eps = 1e-5);

// x / (k + alpha * m)^beta, m being the mean square of `size` neighbouring channels, axis 1; zeros
// count beyond the first and the last.
[[nodiscard]] Tensor local_response_norm(const Tensor& x, int64_t size, double alpha = 1e-4,
                                         double beta = 0.75, double k = 1);

// The same by PyTorch's CrossMapLRN2d, of images (samples, channels, height, width): neighbours are
// the (size - 1) / 2 channels on either side, and the first channel, once it was one, stays.
// ValueError, PyTorch's words, for another number of dimensions.
[[nodiscard]] Tensor cross_map_lrn(const Tensor& x, int64_t size, double alpha = 1e-4,
                                   double beta = 0.75, double k = 1);

struct RunningNormOptions {
    Tensor weight = {}, bias = {}, running_mean = {}, running_var = {};
    // By x's own statistics; else by the running ones.
    bool is_training = false;
    double momentum = 0.1, eps = 1e-5;
};
// running_mean and running_var are empty where there are none before, or none are taken.
struct RunningNorm {
    Tensor result, running_mean, running_var;
};
// Over batch and spatial axes. In training its gradient sums twice: over the gradients of the
// result, and over them times the normalised values.
[[nodiscard]] RunningNorm batch_norm(const Tensor& x, const RunningNormOptions& options);
// Over the spatial axes.
[[nodiscard]] RunningNorm instance_norm(const Tensor& x, const RunningNormOptions& options);

}  // namespace composit::aten
