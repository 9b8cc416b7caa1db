// Keys, and the bits that they give.
#include "composit/random/keys.h"

#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/one_node.h"
#include "composit/ops/ops.h"

#include <cstring>

namespace composit::random {
namespace {

using numpy::apply;
using numpy::one_node;

template <class Seed>
Tensor key_of(Seed seed) {
    ir::Array value(DType::uint64, {});
    std::memcpy(value.mutable_data(), &seed, sizeof seed);
    return ir::constant(std::move(value), text("key(", seed, ")"));
}

Tensor to_uint64(const Tensor& x) { return ops::astype(x, DType::uint64); }

}  // namespace

void check_draw(std::string_view function, const Tensor& key, const Shape& shape) {
    user_check<TypeError>(key.dtype() == DType::uint64, function, ": the key is ", key.type(),
                          key.type().weak ? ", a Python number" : "",
                          ". A key, made by composit.random.key, split or fold_in, is required.");
    user_check(key.rank() == 0, function, ": the key has shape ", key.shape(),
               ". One key, of no dimensions, is required: index an array of keys, or map over it "
               "with vmap.");
    ir::check_shape(function, shape);
}

Tensor blocks(const Tensor& key, const Shape& shape, int64_t start, int64_t step) {
    const Tensor position = ops::reshape(ops::iota({ir::element_count(shape)}, 0), shape);
    Tensor counter = to_uint64(position);
    if (step != 1) counter = apply("multiply", {counter, step});
    if (start != 0) counter = apply("add", {counter, start});
    return apply("threefry2x32", {counter, key});
}

Tensor key(int64_t seed) { return key_of(seed); }
Tensor key(uint64_t seed) { return key_of(seed); }

Tensor split(const Tensor& key, int64_t count) {
    check_draw("split", key, {count});
    return one_node("split", {key}, [&](const auto& x) { return blocks(x[0], {count}); });
}

Tensor fold_in(const Tensor& key, const Operand& data) {
    check_draw("fold_in", key, {});
    const Tensor& number = data;
    user_check<TypeError>(ir::is_integer(number.dtype()), "fold_in: data has dtype ",
                          number.dtype(), ". An integer is required.");
    user_check(number.rank() == 0, "fold_in: data has shape ", number.shape(),
               ". One integer, of no dimensions, is required.");
    return one_node("fold_in", {key, number},
                    [](const auto& x) { return apply("threefry2x32", {to_uint64(x[1]), x[0]}); });
}

Tensor bits(const Tensor& key, const Shape& shape, DType dtype) {
    check_draw("bits", key, shape);
    user_check<TypeError>(ir::is_unsigned_integer(dtype), "bits: dtype is ", dtype,
                          ". An unsigned integer is required: uint8, uint16, uint32 or uint64.");
    return one_node("bits", {key}, [&](const auto& x) -> Tensor {
        const Tensor block = blocks(x[0], shape);
        if (dtype == DType::uint64) return block;
        // The exclusive or of its halves; narrower dtypes take the low bits.
        const Tensor folded = apply("bitwise_xor", {apply("right_shift", {block, 32}), block});
        return ops::astype(folded, dtype);
    });
}

}  // namespace composit::random
