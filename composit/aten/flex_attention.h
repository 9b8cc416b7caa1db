// What PyTorch's flex_attention demands of queries, keys, values and its mask of blocks, and what
// it shows of a mask. The blocks themselves are block_masks.h.
#pragma once

#include "composit/ir/dtype.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace composit::aten {

using ir::Shape;

// A mask of blocks as far as it must fit: its shape (batch, heads, queries, keys), how many batches
// its blocks have, and whether it is for all lengths.
struct BlockMaskShape {
    Shape shape;
    int64_t batches = 1;
    bool is_of_any_length = false;
};

// ValueError, NotSupported, PyTorch's words, unless queries (batch, heads, queries, features), keys
// and values fit each other and the mask. `grouped`: queries may have a multiple of the keys'
// heads.
void check_flex_attention(const Shape& query, const Shape& key, const Shape& value, bool grouped,
                          const std::optional<BlockMaskShape>& mask = {});
// ValueError, RuntimeError for a backend that PyTorch does not know, or one beside the option that
// forces its own.
void check_flex_options(const std::optional<std::string>& backend, bool forces_flex);

// The lengths that a mask of blocks stands for: those that are given, else of whole blocks of
// indices (…, rows, columns).
[[nodiscard]] std::pair<int64_t, int64_t> masked_lengths(
    const Shape& indices, std::pair<int64_t, int64_t> block,
    std::optional<std::pair<int64_t, int64_t>> given = {});
// The part of elements, in percent, whose blocks are left out, of a mask of this shape with so many
// blocks.
[[nodiscard]] double sparsity(int64_t blocks, std::pair<int64_t, int64_t> block,
                              const Shape& shape);

// A picture of blocks (batches…, rows, columns), 1 where one is looked at: for each of the first
// `most_pictures` batches and heads its place and characters, two for each of at most so many parts
// of the rows and columns: full, partly there, or not.
[[nodiscard]] std::string block_picture(const ir::Array& dense,
                                        std::pair<int64_t, int64_t> most_parts = {20, 20},
                                        int64_t most_pictures = 4);

}  // namespace composit::aten
