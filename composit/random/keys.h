// Keys of random numbers: where every draw of this folder gets its bits from.
//
// A key is a uint64 of no dimensions, a value like any other: draws are functions of it. The same
// key gives the same numbers from any back end, with any number of threads; a key that two draws
// share makes them dependent, so split it first. Bits come from Threefry-2x32-20 (Salmon et al.
// 2011), block by block from a counter, and are those of jax.random for the key of the same seed.
//
//   const Tensor root = random::key(0), keys = random::split(root, 2);
//   const Tensor weights = random::normal(numpy::get(keys, 0), {32, 8});
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <string_view>

namespace composit::random {

using ir::DType;
using ir::Shape;
using ir::Tensor;
using numpy::Operand;

// The key of a seed: a leaf named "key(<seed>)" whose value is the seed, modulo 2^64.
[[nodiscard]] Tensor key(int64_t seed);
[[nodiscard]] Tensor key(uint64_t seed);

// `count` new keys, of shape (count,), independent of one another and of the key that they come
// from, which is not to be used again. ValueError: a negative count.
[[nodiscard]] Tensor split(const Tensor& key, int64_t count = 2);

// A new key for an integer of no dimensions (a step's number, a layer's), modulo 2^64. split(key,
// n) has the keys of 0 to n - 1, so one of the two is to be used on a key. TypeError: not an
// integer.
[[nodiscard]] Tensor fold_in(const Tensor& key, const Operand& data);

// Uniform bits of that shape, in an unsigned integer dtype. TypeError: another dtype.
[[nodiscard]] Tensor bits(const Tensor& key, const Shape& shape = {}, DType dtype = DType::uint32);

// ----- for definitions of draws
// TypeError, ValueError: not one key; ValueError: a shape that is impossible.
void check_draw(std::string_view function, const Tensor& key, const Shape& shape);
// The 64-bit blocks numbered start + step i for element i in row-major order; not a node of its
// own.
[[nodiscard]] Tensor blocks(const Tensor& key, const Shape& shape, int64_t start = 0,
                            int64_t step = 1);

}  // namespace composit::random
