// Random bits: those of the algorithm THREE_FRY, as XLA counts them out.
#include "composit/jax/primitives.h"
#include "composit/jax/rules.h"
#include "composit/mlir/building.h"

#include <algorithm>
#include <string>

namespace composit::mlir {
namespace {

Tensor of_word(int64_t value) { return jax::integer_number(ir::DType::uint64, value); }

// The two words of 32 bits changed for each other.
Tensor swapped_words(const Tensor& x) {
    const Tensor shift = of_word(32);
    return ops::map("bitwise_or",
                    {ops::map("left_shift", {x, shift}), ops::map("right_shift", {x, shift})});
}

// Element `place` of the state, without axes.
Tensor part_of_state(const Tensor& state, int64_t place) {
    return ops::reshape(ops::slice(state, {place}, {1}, {1}), {});
}

// The axis along which words of 32 bits stand in pairs: the first of even length, else the longest.
size_t axis_of_pairs(const ir::Shape& shape) {
    for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] % 2 == 0) return d;
    return static_cast<size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
}

// Numbers counted from the counter on in a tensor's order, and what threefry makes of them: of
// each, its first word in the upper half.
Tensor drawn(const Tensor& key, const Tensor& counter, const ir::Shape& shape) {
    const int64_t count = ir::element_count(shape);
    const Tensor counted = jax::apply(
        "iota", {},
        {{"shape", ir::Shape{count}}, {"dimension", int64_t{0}}, {"dtype", ir::DType::uint64}})[0];
    const Tensor made = ops::map(
        "threefry2x32", {swapped_words(ops::map("add", {counted, counter})), swapped_words(key)});
    return ops::reshape(made, shape);
}

// Pairs of words along an axis.
Tensor words_in_pairs(const Tensor& made, size_t axis, const ir::Shape& shape) {
    ir::Shape apart = made.shape();
    apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(axis) + 1, 1);
    const Tensor first = ops::map("right_shift", {made, of_word(32)});
    const Tensor second = ops::map("bitwise_and", {made, of_word(0xffffffff)});
    const Tensor both = ops::concatenate({ops::reshape(first, apart), ops::reshape(second, apart)},
                                         static_cast<int64_t>(axis) + 1);
    ir::Shape whole = made.shape();
    whole[axis] *= 2;
    return ops::slice(ops::reshape(both, whole), ir::Shape(whole.size(), 0), shape,
                      ir::Shape(whole.size(), 1));
}

Tensors random_bits(const Site& site) {
    site.check_operands(1);
    const std::string algorithm = site.word({"rng_algorithm", "algorithm"});
    site.check<NotSupported>(
        algorithm == "THREE_FRY", "its algorithm is ", algorithm,
        algorithm == "DEFAULT" ? ", whose numbers are others on each device" : "",
        ". THREE_FRY is required, or a generator that is written out, as jax.random.key(seed, "
        "impl=\"threefry2x32\").");
    const ValueType& type = site.fixed_result(1);
    const Tensor& state = site.x[0];
    site.check<TypeError>(state.dtype() == ir::DType::uint64 && state.shape() == ir::Shape{2},
                          "its state is ", state.type(),
                          ". Two numbers of uint64, a key and a counter, are required.");
    site.check<NotSupported>(ir::is_integer(type.dtype), "its numbers are ", type.dtype,
                             ". Integers of 8 to 64 bits are required.");
    const Tensor key = part_of_state(state, 0), counter = part_of_state(state, 1);
    ir::Shape shape = type.shape;
    int64_t count = ir::element_count(shape);
    Tensor bits;
    if (ir::size_of(type.dtype) == 8) {
        bits = swapped_words(drawn(key, counter, shape));
    } else {
        if (shape.empty()) shape = {1};
        const size_t axis = axis_of_pairs(shape);
        ir::Shape pairs = shape;
        pairs[axis] = (shape[axis] + 1) / 2;
        count = ir::element_count(pairs);
        bits = words_in_pairs(drawn(key, counter, pairs), axis, shape);
    }
    const Tensor next = ops::map("add", {counter, of_word(count)});
    return {ops::concatenate({ops::reshape(key, {1}), ops::reshape(next, {1})}, 0),
            ops::astype(ops::reshape(bits, type.shape), type.dtype)};
}

}  // namespace

Tensors random_bits_of_open(const Site& site) {
    site.check_operands(2);
    const Tensors state = {site.x[0]};
    return random_bits(Site(site.building, site.operation, state,
                            site.with_lengths(site.result(1), site.x[1]), 1));
}

void add_random_loads(LoadRules& rules) {
    rules["stablehlo.rng_bit_generator"] = random_bits;
    rules["stablehlo.rng"] = [](const Site&) -> Tensors {
        fail<NotSupported>(
            "its numbers are others on each device. stablehlo.rng_bit_generator with THREE_FRY, or "
            "a generator that is written out, is required.");
    };
}

}  // namespace composit::mlir
