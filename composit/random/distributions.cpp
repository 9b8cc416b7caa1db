// Random numbers of continuous distributions: a function of fractions of bits each.
#include "composit/random/distributions.h"

#include "composit/base/error.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/random/parts.h"

#include <functional>

namespace composit::random {
namespace {

using numpy::apply;
using numpy::one_node;
using numpy::Tensors;
using ops::astype;

// One node of that name: `value` of the sign and fraction of each element's block, rounded.
Tensor drawn(std::string_view name, const Tensor& key, const Shape& shape, DType dtype,
             const std::function<Tensor(const SignAndFraction&)>& value) {
    check_draw(name, key, shape);
    check_floating(name, dtype);
    return one_node(name, {key}, [&](const Tensors& x) {
        return astype(value(sign_and_fraction(x[0], shape)), dtype);
    });
}

Tensor signed_as(const Tensor& is_positive, const Tensor& x) {
    return apply("where", {is_positive, x, -x});
}

// Phi(x), precise on the left.
Tensor normal_distribution(const Tensor& x) {
    constexpr double root_half = 0.707106781186547524401;
    return 0.5 * apply("erfc", {x * -root_half});
}

}  // namespace

Tensor uniform(const Tensor& key, const Shape& shape, DType dtype, const Operand& minval,
               const Operand& maxval) {
    check_draw("uniform", key, shape);
    check_floating("uniform", dtype);
    Tensors operands{key};
    if (minval) operands.push_back(checked_parameter("uniform", "minval", minval, shape));
    if (maxval) operands.push_back(checked_parameter("uniform", "maxval", maxval, shape));
    return one_node("uniform", operands, [&](const Tensors& x) {
        const Tensor unit = unit_steps(x[0], shape, dtype);
        const Tensor low = minval ? astype(x[1], dtype) : Tensor();
        const Tensor high = maxval ? astype(x.back(), dtype) : Tensor();
        if (!low) return high ? unit * high : unit;
        return unit * (high ? high - low : 1.0 - low) + low;
    });
}

Tensor normal(const Tensor& key, const Shape& shape, DType dtype) {
    return drawn("normal", key, shape, dtype, [](const SignAndFraction& x) {
        const Tensor quantile = apply("ndtri", {x.fraction * 0.5});  // of the left half
        return signed_as(x.is_positive, -quantile);
    });
}

Tensor truncated_normal(const Tensor& key, const Operand& lower, const Operand& upper,
                        const Shape& shape, DType dtype) {
    constexpr std::string_view name = "truncated_normal";
    check_draw(name, key, shape);
    check_floating(name, dtype);
    const Tensors operands{key, checked_parameter(name, "lower", lower, shape),
                           checked_parameter(name, "upper", upper, shape)};
    return one_node(name, operands, [&](const Tensors& x) {
        const Tensor from = astype(x[1], DType::float64), to = astype(x[2], DType::float64);
        // The half of the line where most of the interval is goes to the left, where Phi is
        // precise.
        const Tensor is_right = (from + to) > 0;
        const Tensor low = apply("where", {is_right, -to, from});
        const Tensor high = apply("where", {is_right, -from, to});
        const Tensor below = normal_distribution(low);
        const Tensor inside = normal_distribution(high) - below;
        const Tensor fraction = sign_and_fraction(x[0], shape).fraction;
        const Tensor quantile = apply("ndtri", {below + fraction * inside});
        const Tensor bounded = apply("clip", {quantile, low, high});
        return astype(apply("where", {is_right, -bounded, bounded}), dtype);
    });
}

Tensor exponential(const Tensor& key, const Shape& shape, DType dtype) {
    return drawn("exponential", key, shape, dtype, [](const SignAndFraction& x) {
        return apply("absolute", {apply("log", {x.fraction})});
    });
}

Tensor laplace(const Tensor& key, const Shape& shape, DType dtype) {
    return drawn("laplace", key, shape, dtype, [](const SignAndFraction& x) {
        const Tensor logarithm = apply("log", {x.fraction});
        return signed_as(x.is_positive, -logarithm);
    });
}

Tensor logistic(const Tensor& key, const Shape& shape, DType dtype) {
    return drawn("logistic", key, shape, dtype, [](const SignAndFraction& x) {
        const Tensor tail = x.fraction * 0.5;
        return signed_as(x.is_positive, apply("log1p", {-tail}) - apply("log", {tail}));
    });
}

Tensor gumbel(const Tensor& key, const Shape& shape, DType dtype) {
    return drawn("gumbel", key, shape, dtype, [](const SignAndFraction& x) {
        const Tensor below_one = apply("minimum", {x.fraction, 1 - 0x1p-53});
        return -apply("log", {-apply("log1p", {-below_one})});
    });
}

Tensor categorical(const Tensor& key, const Tensor& logits, int64_t axis) {
    check_draw("categorical", key, {});
    user_check<TypeError>(ir::is_floating(logits.dtype()), "categorical: logits have dtype ",
                          logits.dtype(), ". A floating dtype is required.");
    const int64_t along = numpy::normalize_axis("categorical", axis, logits.rank());
    user_check(logits.shape()[static_cast<size_t>(along)] > 0, "categorical: logits have shape ",
               logits.shape(), ". At least one along axis ", along, " is required.");
    // The largest of logit + Gumbel noise is logit i's with its probability.
    return one_node("categorical", {key, logits}, [&](const Tensors& x) {
        const Tensor noise = gumbel(x[0], logits.shape(), DType::float64);
        return numpy::argmax(astype(x[1], DType::float64) + noise, along);
    });
}

}  // namespace composit::random
