// What PyTorch's flex_attention demands of queries, keys, values and its mask of blocks, and what
// it shows of a mask. The blocks themselves are block_masks.h.
#pragma once

#include "composit/aten/formulas.h"
#include "composit/ir/dtype.h"
#include "composit/numpy/operand.h"

#include <array>
#include <cstdint>
#include <functional>
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
// ValueError unless queries, keys and values lie on one device, RuntimeError unless the mask's
// blocks do; devices by their texts.
void check_flex_devices(const std::array<std::string, 3>& devices,
                        const std::optional<std::string>& of_mask = {});
// RuntimeError, AssertionError for blocks of fewer than two dimensions, for no numbers of them, and
// for full blocks (of keys by rows, of queries by columns) whose numbers or indices alone are
// there.
struct BlockParts {
    std::optional<int64_t> rank = {};  // of the indices
    bool has_counts = true;
    bool has_full_counts = false, has_full_indices = false;
    bool has_full_counts_by_columns = false, has_full_indices_by_columns = false;
};
void check_block_parts(const BlockParts& parts);
// ValueError, RuntimeError for a backend that PyTorch does not know, or one beside the option that
// forces its own.
void check_flex_options(const std::optional<std::string>& backend, bool forces_flex);

// A function of scores (batch, heads, queries, keys) and of the positions (n,) along each of the
// four: other scores, or booleans that say which count. `spread` makes the positions broadcast with
// the scores.
using Positions = std::array<formulas::Value, 4>;
using ScoreFunction =
    std::function<formulas::Value(const formulas::Value& scores, const Positions& positions)>;
[[nodiscard]] Positions spread(const Positions& positions);

struct FlexOptions {
    ScoreFunction score_mod = {}, mask_mod = {};
    std::optional<double> scale = {};  // 1 / sqrt(features) unless given
    bool shows_lse = false, shows_max_scores = false;
};
// softmax(score_mod(query @ key^T * scale)) @ value; a query that looks at nothing gets zeros. Keys
// and values may have fewer heads, which divide the queries', and one batch. Scores are computed in
// float32, of float64 in that. lse: the logarithms of the sums of the scores' exponentials.
struct FlexAttention {
    formulas::Value output;
    std::optional<formulas::Value> lse, max_scores;
};
[[nodiscard]] FlexAttention flex_attention(const formulas::Value& query, const formulas::Value& key,
                                           const formulas::Value& value,
                                           const FlexOptions& options = {});

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
