// PyTorch's pooling: channels first, with or without a batch; lengths are one for all spatial axes
// or one for each; no stride is the kernel's.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::aten {

using ir::Tensor;

struct PoolOptions {
    std::vector<int64_t> kernel_size;
    std::vector<int64_t> stride = {}, padding = {}, dilation = {};
    bool ceil_mode = false;
};
// x has `count` spatial axes, or ValueError: (batch, channels, …) or (channels, …).
[[nodiscard]] Tensor max_pool(const Tensor& x, int64_t count, const PoolOptions& options);
// Also where the elements stand in their image, flattened: int64.
[[nodiscard]] std::pair<Tensor, Tensor> max_pool_with_indices(const Tensor& x, int64_t count,
                                                              const PoolOptions& options);
// NotSupported for integers. `divisor` takes the place of the number of elements of a window.
[[nodiscard]] Tensor average_pool(const Tensor& x, int64_t count, const PoolOptions& options,
                                  bool count_include_pad = true,
                                  std::optional<double> divisor = {});
// The p-norm of each window; gradients of norms that are 0 are 0.
[[nodiscard]] Tensor lp_pool(const Tensor& x, int64_t count, double norm_type,
                             const PoolOptions& options);
// Windows as even as possible; a length that is missing is x's own.
using OutputSize = std::vector<std::optional<int64_t>>;
[[nodiscard]] Tensor adaptive_average_pool(const Tensor& x, int64_t count, const OutputSize& size);
[[nodiscard]] std::pair<Tensor, Tensor> adaptive_max_pool(const Tensor& x, int64_t count,
                                                          const OutputSize& size);
// Elements back where max_pool_with_indices found them, zeros elsewhere. Spatial axes get the
// lengths of output_size, else (n - 1) * stride - 2 * padding + kernel.
[[nodiscard]] Tensor max_unpool(const Tensor& x, const Tensor& indices, int64_t count,
                                const PoolOptions& options, const ir::Shape& output_size = {});
// The lengths of a fractional pool of x: output_size, or ratios of x's own lengths; one for all
// spatial axes or one for each. RuntimeError where windows of the kernel do not fit into x.
[[nodiscard]] ir::Shape fractional_size(const Tensor& x, const ir::Shape& kernel,
                                        const ir::Shape& output_size,
                                        const std::vector<double>& ratios = {});
// What a fractional pool over `count` axes takes: the lengths of windows and of the result, and the
// shape of the samples that say where windows are. ValueError unless a size or ratios are given,
// and not both.
struct FractionalWindows {
    ir::Shape kernel, size, samples;
};
[[nodiscard]] FractionalWindows fractional_windows(
    std::string_view function, const Tensor& x, int64_t count, const ir::Shape& kernel,
    const std::optional<ir::Shape>& size, const std::optional<std::vector<double>>& ratios);
// Of windows at places that samples in [0, 1), (batch, channels, spatial axes), say, and where the
// elements stand. kernel and size have a length for each spatial axis.
[[nodiscard]] std::pair<Tensor, Tensor> fractional_max_pool(const Tensor& x,
                                                            const ir::Shape& kernel,
                                                            const ir::Shape& size,
                                                            const Tensor& samples);

}  // namespace composit::aten
