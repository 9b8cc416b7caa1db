// Random numbers: JAX's default generator is composit's. A key is a uint64, of JAX's two uint32 the
// first one in the upper half.
#include "composit/base/error.h"
#include "composit/functional/functional.h"
#include "composit/jax/rules.h"
#include "composit/random/keys.h"

namespace composit::jax {
namespace {

// For each key of an array of them.
Tensor for_each_key(const Tensor& keys, const std::function<Tensor(const Tensor&)>& draw) {
    if (keys.shape().empty()) return draw(keys);
    const Tensor flat = ops::reshape(keys, {keys.size()});
    const Tensor made = vmap([&](const Tensor& key) { return draw(key); })(flat);
    Shape shape = keys.shape();
    shape.insert(shape.end(), made.shape().begin() + 1, made.shape().end());
    return ops::reshape(made, shape);
}

Tensor word_shift() { return integer_number(DType::uint64, 32); }

Tensor joined_words(const Tensor& high, const Tensor& low) {
    const Tensor upper = ops::map("left_shift", {ops::astype(high, DType::uint64), word_shift()});
    return ops::map("bitwise_or", {upper, ops::astype(low, DType::uint64)});
}

Tensor high_word(const Tensor& x) {
    return ops::astype(ops::map("right_shift", {x, word_shift()}), DType::uint32);
}
Tensor low_word(const Tensor& x) { return ops::astype(x, DType::uint32); }

Tensor last_element(const Tensor& x, int64_t place) {
    Axes starts(x.shape().size(), 0), lengths = x.shape();
    starts.back() = place;
    lengths.back() = 1;
    const Shape shape(lengths.begin(), lengths.end() - 1);
    return ops::reshape(ops::slice(x, starts, lengths, Axes(lengths.size(), 1)), shape);
}

Tensor unwrapped(const Tensor& keys) {
    Shape apart = keys.shape();
    apart.push_back(1);
    const auto axis = static_cast<int64_t>(keys.shape().size());
    return ops::concatenate(
        {ops::reshape(high_word(keys), apart), ops::reshape(low_word(keys), apart)}, axis);
}

void check_generator(const Application& a) {
    const std::string impl = a.text_or("impl", "threefry2x32");
    user_check<NotSupported>(impl == "threefry2x32" || impl == "fry", "trace_jax: ", a.name,
                             " of the generator '", impl, "'. 'threefry2x32' is required.");
}

DType bits_dtype(int64_t width) {
    switch (width) {
        case 8: return DType::uint8;
        case 16: return DType::uint16;
        case 32: return DType::uint32;
        default: return DType::uint64;
    }
}

}  // namespace

void add_random_primitives(ApplyRules& rules) {
    rules["random_seed"] = [](const Application& a) {
        check_generator(a);
        const Tensor& seed = a.x[0];
        if (ir::size_of(seed.dtype()) == 8) return Tensors{ops::astype(seed, DType::uint64)};
        return Tensors{ops::astype(ops::astype(seed, DType::uint32), DType::uint64)};
    };
    rules["random_wrap"] = [](const Application& a) {
        check_generator(a);
        return Tensors{joined_words(last_element(a.x[0], 0), last_element(a.x[0], 1))};
    };
    rules["random_unwrap"] = [](const Application& a) { return Tensors{unwrapped(a.x[0])}; };
    rules["random_split"] = [](const Application& a) {
        const Shape& shape = a.axes("shape");
        return Tensors{for_each_key(a.x[0], [&](const Tensor& key) {
            return ops::reshape(random::split(key, ir::element_count(shape)), shape);
        })};
    };
    rules["random_fold_in"] = [](const Application& a) {
        const Tensor data = ops::astype(a.x[1], DType::uint32);
        if (a.x[0].shape().empty() && data.shape().empty())
            return Tensors{random::fold_in(a.x[0], data)};
        const Shape shape = ops::broadcast_shapes("fold_in", {a.x[0].shape(), data.shape()});
        const Tensor keys =
            ops::reshape(ops::broadcast_to(a.x[0], shape), {ir::element_count(shape)});
        const Tensor flat =
            ops::reshape(ops::broadcast_to(data, shape), {ir::element_count(shape)});
        const Tensor made = vmap([](const Tensor& key, const Tensor& number) {
            return random::fold_in(key, number);
        })(keys, flat);
        return Tensors{ops::reshape(made, shape)};
    };
    rules["random_bits"] = [](const Application& a) {
        return Tensors{for_each_key(a.x[0], [&](const Tensor& key) {
            return random::bits(key, a.axes("shape"), bits_dtype(a.integer("bit_width")));
        })};
    };
    rules["threefry2x32"] = [](const Application& a) {
        const Tensor made =
            ops::map("threefry2x32", {joined_words(a.x[2], a.x[3]), joined_words(a.x[0], a.x[1])});
        return Tensors{high_word(made), low_word(made)};
    };
}

}  // namespace composit::jax
