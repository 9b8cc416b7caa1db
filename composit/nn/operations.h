// Operations of neural networks that NumPy does not have. Images: channels first (batch, channels,
// spatial…) or last.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::nn {

using ir::DType;
using ir::Shape;
using ir::Tensor;

// ----- activations: rows of the scalar table, one node each
[[nodiscard]] Tensor relu(const Tensor& x);     // maximum(x, 0); slope 0 at 0
[[nodiscard]] Tensor sigmoid(const Tensor& x);  // 1 / (1 + exp(-x))
[[nodiscard]] Tensor silu(const Tensor& x);     // x * sigmoid(x)
[[nodiscard]] Tensor gelu(const Tensor& x);     // x * (1 + erf(x / sqrt(2))) / 2

// weights (rows, …), integer ids of any shape -> ids.shape + weights.shape[1:]. IndexError when
// evaluated for an id out of range; negative ids count from the end, as NumPy's weights[ids].
[[nodiscard]] Tensor embedding(const Tensor& ids, const Tensor& weights);

// Cross-correlation in 1, 2 or 3 dimensions, by the rank of x (3, 4 or 5). Filters: (out, in /
// groups, window…), or with channels_last (out, window…, in / groups). strides and dilation default
// to 1, padding (zeros on both sides) to 0, one length per spatial axis, or a single one for all.
// Operands are promoted to a common dtype. ValueError naming both shapes when they do not
// fit together.
struct ConvolutionOptions {
    bool channels_last = false;
    std::vector<int64_t> strides = {}, padding = {}, dilation = {};
    int64_t groups = 1;
};
[[nodiscard]] Tensor convolution(const Tensor& x, const Tensor& filters,
                                 const ConvolutionOptions& options = {});

// Windows of kernel_size over the spatial axes of x (rank 3, 4 or 5). strides default to 1,
// padding to 0. Only whole windows count. One node each.
struct PoolOptions {
    std::vector<int64_t> kernel_size;
    bool channels_last = false;
    std::vector<int64_t> strides = {}, padding = {};
};
// Padding is -inf (integers: their least value). The gradient goes to the first maximum of each
// window.
[[nodiscard]] Tensor max_pool(const Tensor& x, const PoolOptions& options);
// Padding is zeros, which count.
[[nodiscard]] Tensor average_pool(const Tensor& x, const PoolOptions& options);

// log(sum(exp(x))) along an axis, computed around the maximum.
[[nodiscard]] Tensor logsumexp(const Tensor& x, int64_t axis = -1, bool keepdims = false);
// x - logsumexp(x)
[[nodiscard]] Tensor log_softmax(const Tensor& x, int64_t axis = -1);

// Integer labels -> labels.shape + (classes,): 1 where the position is the label; no ones for
// labels out of range.
[[nodiscard]] Tensor one_hot(const Tensor& labels, int64_t classes, DType dtype = DType::float32);

// ----- losses; reduction "mean", "sum" or "none"
// logits (…, classes), integer labels (…): -log_softmax(logits)[label]. IndexError for labels out
// of range.
[[nodiscard]] Tensor cross_entropy(const Tensor& logits, const Tensor& labels,
                                   std::string_view reduction = "mean");
// log_probabilities (…, classes), integer labels (…): -log_probabilities[label].
[[nodiscard]] Tensor nll(const Tensor& log_probabilities, const Tensor& labels,
                         std::string_view reduction = "mean");
[[nodiscard]] Tensor mse(const Tensor& prediction, const Tensor& target,
                         std::string_view reduction = "mean");

// The operations of nn that are not made of others, registered: front ends that look operations up
// by name (parse) call this, and ops::register_operations, first.
void register_operations();

}  // namespace composit::nn
