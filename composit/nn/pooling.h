// Pooling: maxima and means over windows of images, (batch, channels, spatial…) or channels last.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace composit::nn {

using ir::Tensor;

// Windows of kernel_size over the spatial axes of x (rank 3, 4 or 5), one length per axis or a
// single one for all. strides and dilation default to 1, padding (on both sides) to 0. Only whole
// windows count; with ceil_mode also a last one that begins within x or the padding before it.
// ValueError where a window is larger than the padded input.
struct PoolOptions {
    std::vector<int64_t> kernel_size;
    bool channels_last = false;
    std::vector<int64_t> strides = {}, padding = {}, dilation = {};
    bool ceil_mode = false;
    // average_pool: whether the padding's zeros are counted.
    bool count_include_pad = true;
    // average_pool's: in place of the number of elements of a window.
    std::optional<double> divisor = {};
};
// Padding is -inf (integers: their least value). The gradient goes to the first maximum of each
// window. One node.
[[nodiscard]] Tensor max_pool(const Tensor& x, const PoolOptions& options);
// The same, and where each maximum is: its position (int64) in the row-major spatial axes of x.
[[nodiscard]] std::pair<Tensor, Tensor> max_pool_with_indices(const Tensor& x,
                                                              const PoolOptions& options);
// The way back from max_pool_with_indices with the same kernel_size, strides and padding: x's
// elements where `indices` (positions in the result's row-major spatial axes, which negative ones
// count from the end of) say, zeros elsewhere. An element that several write gets the last of them,
// and each of them its gradient, as PyTorch's. Lengths are (n - 1) * stride - 2 * padding + window,
// or output_size (one for all or one per axis), less than a stride off. TypeError for indices that
// are no integers, ValueError for shapes that differ, IndexError when evaluated for an index that
// is out of range. One node on rows.
[[nodiscard]] Tensor max_unpool(const Tensor& x, const Tensor& indices, const PoolOptions& options,
                                const std::vector<int64_t>& output_size = {});
// Padding is zeros. What ceil_mode adds behind them never counts. One node.
[[nodiscard]] Tensor average_pool(const Tensor& x, const PoolOptions& options);

// The norm of windows: the norm_type-th root of the sum of x^norm_type, as torch's lp_pool; of
// windows that ceil_mode lets end behind x, the sum is the mean times the whole window's size.
// Gradients of sums that are 0 are 0. No padding, no dilation. One node.
[[nodiscard]] Tensor lp_pool(const Tensor& x, double norm_type, const PoolOptions& options);

// output_size results along each spatial axis (a single one for all): result i is of the elements
// from floor(i * length / output_size) to ceil((i + 1) * length / output_size). One node each.
[[nodiscard]] Tensor adaptive_average_pool(const Tensor& x, const std::vector<int64_t>& output_size,
                                           bool channels_last = false);
// The gradient goes to the first maximum.
[[nodiscard]] Tensor adaptive_max_pool(const Tensor& x, const std::vector<int64_t>& output_size,
                                       bool channels_last = false);
// Also where the elements stand in the flattened spatial axes: int64.
[[nodiscard]] std::pair<Tensor, Tensor> adaptive_max_pool_with_indices(
    const Tensor& x, const std::vector<int64_t>& output_size, bool channels_last = false);

// Of all spatial axes, kept with length 1.
[[nodiscard]] Tensor global_average_pool(const Tensor& x, bool channels_last = false);
// The gradient goes to the first maximum.
[[nodiscard]] Tensor global_max_pool(const Tensor& x, bool channels_last = false);

}  // namespace composit::nn
