// Random booleans and integers.
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/random/distributions.h"
#include "composit/random/parts.h"

namespace composit::random {
namespace {

using numpy::apply;
using numpy::one_node;
using numpy::Tensors;
using ops::astype;

constexpr int64_t low_half = 0xffffffff;

// floor(a b / 2^64) for uint64, in pieces of 32 bits.
Tensor high_product(const Tensor& a, const Tensor& b) {
    const Tensor a_low = a & low_half, a_high = a >> 32, b_low = b & low_half, b_high = b >> 32;
    const Tensor first = a_high * b_low + ((a_low * b_low) >> 32);
    const Tensor second = a_low * b_high + (first & low_half);
    return a_high * b_high + (first >> 32) + (second >> 32);
}

// floor(bits * span / 2^n) for n = 64 random bits, or 128 where `is_wide`: each result below span
// has as many bits, or one more.
Tensor below(const Tensor& key, const Shape& shape, const Tensor& span, bool is_wide) {
    if (!is_wide) return high_product(blocks(key, shape), span);
    const Tensor high = blocks(key, shape, 0, 2), low = blocks(key, shape, 1, 2);
    const Tensor rest = high * span;
    const Tensor sum = rest + high_product(low, span);
    return high_product(high, span) + astype(sum < rest, DType::uint64);
}

// A number in the source must be one that dtype holds; `maxval` may be one more.
void check_bound(std::string_view name, const Tensor& bound, DType dtype, bool is_end) {
    user_check<TypeError>(ir::is_integer(bound.dtype()), "randint: ", name, " has dtype ",
                          bound.dtype(), ". An integer is required.");
    if (!bound.type().weak) return;
    const int64_t value = *ir::constant_value(bound.node()).data_as<int64_t>();
    const int64_t nearest = is_end && value > INT64_MIN ? value - 1 : value;
    const auto bits = ir::scalar::bits_of_integer(dtype, nearest);
    const auto back = ir::scalar::value_of(dtype, bits);
    user_check(back == static_cast<double>(nearest), "randint: ", name, " is ", value,
               ". What dtype ", dtype, " holds is required.");
}

}  // namespace

Tensor bernoulli(const Tensor& key, const Operand& p, const std::optional<Shape>& shape) {
    const Tensor& probability = p;
    const Shape size = shape ? *shape : probability.shape();
    check_draw("bernoulli", key, size);
    const bool is_double = !probability.type().weak && probability.dtype() == DType::float64;
    const DType dtype = is_double ? DType::float64 : DType::float32;
    return one_node(
        "bernoulli", {key, checked_parameter("bernoulli", "p", p, size)},
        [&](const Tensors& x) { return unit_steps(x[0], size, dtype) < astype(x[1], dtype); });
}

Tensor rademacher(const Tensor& key, const Shape& shape, DType dtype) {
    check_draw("rademacher", key, shape);
    const bool has_sign = ir::is_floating(dtype) || ir::is_signed_integer(dtype);
    user_check<TypeError>(has_sign, "rademacher: dtype is ", dtype,
                          ". A real dtype with a sign is required.");
    return one_node("rademacher", {key}, [&](const Tensors& x) {
        const Tensor top = astype(blocks(x[0], shape) >> 63, DType::int32);
        return astype(1 - 2 * top, dtype);
    });
}

Tensor randint(const Tensor& key, const Shape& shape, const Operand& minval, const Operand& maxval,
               DType dtype) {
    check_draw("randint", key, shape);
    user_check<TypeError>(ir::is_integer(dtype), "randint: dtype is ", dtype,
                          ". An integer dtype is required.");
    check_bound("minval", minval, dtype, false);
    check_bound("maxval", maxval, dtype, true);
    const bool is_wide = ir::size_of(dtype) == 8;
    const DType computed = dtype == DType::uint64 ? DType::uint64 : DType::int64;
    const Tensors operands{key, checked_parameter("randint", "minval", minval, shape),
                           checked_parameter("randint", "maxval", maxval, shape)};
    return one_node("randint", operands, [&](const Tensors& x) {
        const Tensor low = astype(x[1], computed), high = astype(x[2], computed);
        const Tensor width = astype(high - low, DType::uint64);
        const Tensor span = apply("where", {high > low, width, 0});
        const Tensor offset = astype(below(x[0], shape, span, is_wide), computed);
        return astype(low + offset, dtype);
    });
}

}  // namespace composit::random
