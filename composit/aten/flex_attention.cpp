// Demands in PyTorch's words.
#include "composit/aten/flex_attention.h"

#include "composit/base/assertion_error.h"
#include "composit/base/error.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace composit::aten {
namespace {

void check_operands(const Shape& query, const Shape& key, const Shape& value, bool grouped) {
    const std::array<size_t, 3> dims = {query.size(), key.size(), value.size()};
    user_check(std::ranges::min(dims) >= 2,
               "Expected query, key, and value to all be  at least 2 dimensional, but got "
               "query.dim: ",
               dims[0], ", key.dim: ", dims[1], " and value.dim: ", dims[2], " instead.");
    user_check(query.back() == key.back(),
               "Expect query and key/value to have the same embedding dimension but got E=",
               query.back(), " and E=", key.back(), ".");
    constexpr size_t rank = 4;
    user_check<NotSupported>(std::ranges::all_of(dims, [](size_t dim) { return dim == rank; }),
                             "NYI: query, key, and value must be 4D tensors");
    const int64_t heads = query[1], of_keys = key[1];
    user_check(grouped || heads == of_keys,
               "Expect query and key/value to have the same number of heads but got Hq=", heads,
               " and Hkv=", of_keys, ". Try setting enable_gqa=True for GQA.");
    user_check(!grouped || (of_keys > 0 && heads % of_keys == 0),
               "Expect number of query heads to be a multiple of kv heads for GQA but got Hq=",
               heads, " and Hkv=", of_keys, ".");
}

void check_lengths(int64_t queries, int64_t keys, const Shape& mask) {
    const int64_t rows = mask[mask.size() - 2], columns = mask.back();
    if (queries == rows && keys == columns) return;
    const std::string what =
        text("block_mask was created for block_mask.shape=", mask, " but got q_len=", queries,
             " and kv_len=", keys, ". As the block mask was created for a ");
    user_check(queries <= rows && keys <= columns, what,
               "smaller length than you're using it for, you likely need to create a new block "
               "mask.");
    fail<ValueError>(what,
                     "larger length than you're using it for, you can either 1. create a new block "
                     "mask with the correct length, or 2. 'adjust' the existing block mask to the "
                     "correct length by calling block_mask._adjust(q_len, kv_len). This "
                     "essentially 'crops' the block mask to the upper left corner, which does not "
                     "work for all mask_mods!");
}

}  // namespace

void check_flex_attention(const Shape& query, const Shape& key, const Shape& value, bool grouped,
                          const std::optional<BlockMaskShape>& mask) {
    check_operands(query, key, value, grouped);
    if (query[0] != key[0]) {
        user_check(mask.has_value(),
                   "Expect query and key/value to have the same batch size, or non-none "
                   "block_mask, but got block_mask=None, Bq=",
                   query[0], ", and Bkv=", key[0], ".");
        user_check(mask->batches == query[0],
                   "Expect query and key/value to have the same batch size, or block_mask and "
                   "query to have the same batch size, but got Bq=",
                   query[0], ", Bkv=", key[0], ", B_block_mask=", mask->batches, ".");
    }
    if (mask && !mask->is_of_any_length) check_lengths(query[2], key[2], mask->shape);
    user_check<RuntimeError>(key[0] == query[0] || key[0] == 1,
                             "Bq and Bkv must broadcast. Got Bq=", query[0], " and Bkv=", key[0]);
}

void check_flex_devices(const std::array<std::string, 3>& devices,
                        const std::optional<std::string>& of_mask) {
    user_check(devices[0] == devices[1] && devices[0] == devices[2],
               "Expected query, key, and value to have the same device type, but got "
               "query.device: ",
               devices[0], ", key.device: ", devices[1], ", and value.device: ", devices[2],
               " instead.");
    user_check<RuntimeError>(!of_mask || *of_mask == devices[0],
                             "Expect q/k/v and block_mask to be on the same device but got ",
                             devices[0], " and ", of_mask.value_or(""), ".");
}

void check_block_parts(const BlockParts& parts) {
    user_check<RuntimeError>(!parts.rank || *parts.rank >= 2,
                             "BlockMask must have at least 2 dimensions");
    user_check<AssertionError>(parts.has_counts, "kv_num_blocks must be provided");
    const auto check_pair = [](const char* name, bool one, bool other) {
        user_check<AssertionError>(one == other, "full_", name, "_num_blocks and full_", name,
                                   "_indices must be both provided or omitted");
    };
    check_pair("kv", parts.has_full_counts, parts.has_full_indices);
    check_pair("q", parts.has_full_counts_by_columns, parts.has_full_indices_by_columns);
}

Positions spread(const Positions& positions) {
    Positions made = positions;
    for (size_t i = 0; i < made.size(); ++i) {
        Shape shape(made.size(), 1);
        shape[i] = -1;
        made[i] = formulas::reshape(positions[i], shape);
    }
    return made;
}

FlexAttention flex_attention(const formulas::Value& query, const formulas::Value& given_key,
                             const formulas::Value& given_value, const FlexOptions& options) {
    using namespace formulas;
    const Shape shape = query.shape();
    user_check(shape.size() == 4 && given_key.rank() == 4 && given_value.rank() == 4,
               "flex_attention: a query of shape ", shape, ", a key of ", given_key.shape(),
               " and a value of ", given_value.shape(), ". Four dimensions are required.");
    const auto fitted = [&](Value x) {
        const int64_t groups = shape[1] / std::max(int64_t{1}, given_key.size(1));
        if (groups > 1) x = apply("repeat_interleave", {x, groups, 1});
        Shape whole = x.shape();
        whole[0] = shape[0];
        return expand(x, whole);
    };
    const Value key = fitted(given_key), value = fitted(given_value);
    const double scale = options.scale.value_or(1.0 / std::sqrt(static_cast<double>(shape[3])));
    Value scores =
        matmul(apply("precise", query), transpose(apply("precise", key), -2, -1)) * scale;
    const auto along = [&](int64_t dim) { return apply("positions", {scores, scores.size(dim)}); };
    const Positions positions = {along(0), along(1), along(2), along(3)};
    if (options.score_mod) scores = options.score_mod(scores, positions);
    if (options.mask_mod) scores = where(options.mask_mod(scores, positions), scores, -HUGE_VAL);
    const Value kept = type_as(apply("safe_softmax", {scores, -1}), query);
    FlexAttention made{matmul(kept, type_as(value, query)), {}, {}};
    if (options.shows_lse) made.lse = logsumexp(scores, -1);
    if (options.shows_max_scores) made.max_scores = apply("amax", {scores, -1});
    return made;
}

void check_flex_options(const std::optional<std::string>& backend, bool forces_flex) {
    if (!backend) return;
    user_check<RuntimeError>(!forces_flex,
                             "BACKEND cannot be combined with legacy FORCE_USE_FLEX_ATTENTION. "
                             "BACKEND supersedes the legacy knob; please drop "
                             "FORCE_USE_FLEX_ATTENTION and only specify the desired BACKEND.");
    constexpr std::array known = {"AUTO", "TRITON", "FLASH", "TRITON_DECODE"};
    user_check(std::ranges::find(known, *backend) != known.end(), "Invalid BACKEND value '",
               *backend, "'. Must be one of ('AUTO', 'TRITON', 'FLASH', 'TRITON_DECODE')");
}

std::pair<int64_t, int64_t> masked_lengths(const Shape& indices, std::pair<int64_t, int64_t> block,
                                           std::optional<std::pair<int64_t, int64_t>> given) {
    user_check<RuntimeError>(indices.size() >= 2, "BlockMask must have at least 2 dimensions");
    if (given) return *given;
    return {indices[indices.size() - 2] * block.first, indices.back() * block.second};
}

double sparsity(int64_t blocks, std::pair<int64_t, int64_t> block, const Shape& shape) {
    const auto looked_at = static_cast<double>(blocks * block.first * block.second);
    return 100 * (1 - looked_at / static_cast<double>(ir::element_count(shape)));
}

std::string block_picture(const ir::Array& dense, std::pair<int64_t, int64_t> most_parts,
                          int64_t most_pictures) {
    user_check(most_parts.first > 0 && most_parts.second > 0, "to_string: a grid of ",
               most_parts.first, " by ", most_parts.second, ". Lengths above 0 are required.");
    const Shape& shape = dense.shape();
    user_check(dense.dtype() == ir::DType::int32 && shape.size() >= 2, "to_string: blocks are ",
               dense.dtype(), " ", shape, ". int32 (…, rows, columns) is required.");
    const int64_t rows = shape[shape.size() - 2], columns = shape.back();
    const Shape batch(shape.begin(), shape.end() - 2);
    const auto step = [](int64_t length, int64_t most) {
        return std::max(int64_t{1}, (length + most - 1) / most);
    };
    const int64_t row_step = step(rows, most_parts.first);
    const int64_t column_step = step(columns, most_parts.second);
    const auto* const values = dense.data_as<int32_t>();
    const auto part = [&](const int32_t* picture, int64_t r, int64_t c) {
        int64_t count = 0, all = 0;
        for (int64_t i = r; i < std::min(rows, r + row_step); ++i)
            for (int64_t j = c; j < std::min(columns, c + column_step); ++j, ++all)
                count += picture[i * columns + j] != 0;
        return count == all ? "██" : count > 0 ? "░░" : "  ";
    };
    std::string shown;
    Shape place(batch.size(), 0);
    for (int64_t number = 0; number < ir::element_count(batch); ++number) {
        if (number > 0) shown += "\n";
        if (number == most_pictures)
            return shown +
                   "...\nTo print out more, set BlockMask.to_string(limit=N)\n"
                   "You can also index (BlockMask[batch, head]) to choose a specific "
                   "batch or head";
        shown += text(place, "\n");
        for (int64_t r = 0; r < rows; r += row_step) {
            for (int64_t c = 0; c < columns; c += column_step)
                shown += part(values + number * rows * columns, r, c);
            shown += "\n";
        }
        for (size_t d = place.size(); d-- > 0;) {  // the next place
            if (++place[d] < batch[d]) break;
            place[d] = 0;
        }
    }
    return shown;
}

}  // namespace composit::aten
