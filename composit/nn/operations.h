// Operations of neural networks that NumPy does not have. Images: channels first (batch, channels,
// spatial…) or last.
#pragma once

#include "composit/nn/pooling.h"
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
// x * (1 + erf(x / sqrt(2))) / 2; approximate "tanh": x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715
// x^3))) / 2. ValueError for another word than these, "none" and "tanh".
[[nodiscard]] Tensor gelu(const Tensor& x, std::string_view approximate = "none");

// weights (rows, …), integer ids of any shape -> ids.shape + weights.shape[1:]. IndexError when
// evaluated for an id out of range; negative ids count from the end, as NumPy's weights[ids].
// No gradient reaches the row padding_idx (negative: from the end); IndexError: there is no such
// row.
[[nodiscard]] Tensor embedding(const Tensor& ids, const Tensor& weights,
                               std::optional<int64_t> padding_idx = {});

// Cross-correlation in 1, 2 or 3 dimensions, by the rank of x (3, 4 or 5). Filters: (out, in /
// groups, window…), or with channels_last (out, window…, in / groups). strides and dilation default
// to 1, padding (on both sides) to 0, one length per spatial axis, or a single one for all;
// same_padding: as much as keeps the lengths, of strides 1. What is padded is 0, or as padding_mode
// says ("reflect", "replicate", "circular": padding.h). A bias (out,) is added. Operands are
// promoted to a common dtype. ValueError naming both shapes when they do not fit together.
struct ConvolutionOptions {
    bool channels_last = false;
    std::vector<int64_t> strides = {}, padding = {}, dilation = {};
    int64_t groups = 1;
    Tensor bias = {};
    std::string_view padding_mode = "zeros";
    bool same_padding = false;
};
[[nodiscard]] Tensor convolution(const Tensor& x, const Tensor& filters,
                                 const ConvolutionOptions& options = {});

// The derivative of a convolution by its input, as a function: a result of length (n - 1) * stride
// - 2 * padding + (window - 1) * dilation + output_padding + 1 along each axis. Filters: (in, out /
// groups, window…), or with channels_last (in, window…, out / groups). ValueError naming the shapes
// when they do not fit together, or output_padding is neither below the stride nor the dilation.
struct TransposedConvolutionOptions {
    bool channels_last = false;
    std::vector<int64_t> strides = {}, padding = {}, output_padding = {}, dilation = {};
    int64_t groups = 1;
    Tensor bias = {};
};
[[nodiscard]] Tensor transposed_convolution(const Tensor& x, const Tensor& filters,
                                            const TransposedConvolutionOptions& options = {});

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
