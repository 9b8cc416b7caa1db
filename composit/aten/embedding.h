// Rows of a matrix by number, combined in bags.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace composit::aten {

using ir::Tensor;

struct EmbeddingBagOptions {
    Tensor offsets = {};             // where bags of one line of indices start
    std::string_view mode = "mean";  // or "sum", "max"
    Tensor per_sample_weights = {};
    bool include_last_offset = false;  // the last offset is the end
    std::optional<int64_t> padding_idx = {};
};
// Bags are the rows of indices (bags, length), or begin at offsets. Empty ones give zeros.
// ValueError for another mode, PyTorch's words.
[[nodiscard]] Tensor embedding_bag(const Tensor& indices, const Tensor& weight,
                                   const EmbeddingBagOptions& options = {});

}  // namespace composit::aten
