// Attention: with masks, of grouped heads, over a cache of keys and values; rotary embeddings.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>

namespace composit::nn {

using ir::Tensor;

// `mask` broadcasts to (…, queries, keys): bool, true where a query may attend, or floating, added
// to the scores. is_causal: query i attends to keys 0, …, i. scale: 1 / sqrt(head size) unless
// given. group_heads: query has a multiple of the heads (axis -3) of key and value, which serve as
// many neighbouring heads each. position (an integer, 0-d, also one that is only known when it is
// evaluated): the queries are at position, position + 1, … of the keys, and attend to none behind
// their own: what a cache holds after them does not matter.
struct AttentionOptions {
    Tensor mask = {};
    bool is_causal = false;
    std::optional<double> scale = {};
    bool group_heads = false;
    Tensor position = {};
};
// softmax(query @ key^T * scale + mask) @ value over the last two axes. A query that may attend to
// nothing gives zeros. ValueError naming the shapes when they do not fit together.
[[nodiscard]] Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                                  const Tensor& value,
                                                  const AttentionOptions& options);

// A cache (…, capacity, features) with `fresh` (…, count, features) written at rows position, …,
// position + count - 1; position is an integer, 0-d, which may be known only when it is evaluated.
// IndexError when rows are out of the cache's (at once where position is constant).
[[nodiscard]] Tensor update_cache(const Tensor& cache, const Tensor& fresh, const Tensor& position);

// The cosines and sines, each (positions, size / 2), that rotate pairs of features at integer
// positions: of angle position * base^(-2 i / size). ValueError: size is odd.
struct Rotations {
    Tensor cosine, sine;
};
[[nodiscard]] Rotations rotary_angles(const Tensor& positions, int64_t size, double base = 10000,
                                      ir::DType dtype = ir::DType::float32);

// x (…, sequence, features) with pairs of features rotated by the angles (sequence, features / 2),
// which broadcast against it. Pairs are (i, i + features / 2), the halves of GPT-NeoX and Llama,
// or, interleaved, the neighbours (2 i, 2 i + 1) of the paper (Su et al., 2021). With fewer angles,
// the features behind the first 2 * angles stay as they are. ValueError naming the shapes.
[[nodiscard]] Tensor rotary_embedding(const Tensor& x, const Tensor& cosine, const Tensor& sine,
                                      bool interleaved = false);

}  // namespace composit::nn
