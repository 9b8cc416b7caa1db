// PyTorch's attention.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>

namespace composit::aten {

using ir::Tensor;

// softmax, but zeros where all is -infinity: a query that may look at nothing.
[[nodiscard]] Tensor safe_softmax(const Tensor& x, int64_t dim);

struct AttentionOptions {
    Tensor mask = {};    // true where a query may look, or added to scores
    double dropout = 0;  // of the weights, by `random_key`
    bool is_causal = false;
    std::optional<double> scale = {};  // 1 / sqrt(features) unless given
    bool group_heads = false;          // query has a multiple of the heads, axis -3, of the others
    Tensor random_key = {};
};
// softmax(query @ key^T * scale + mask) @ value over the last two axes; without dropout and mask
// one of composit::nn's.
[[nodiscard]] Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                                  const Tensor& value,
                                                  const AttentionOptions& options = {});

}  // namespace composit::aten
