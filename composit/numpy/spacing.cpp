// linspace as NumPy computes it: multiples of a step after the start, the last replaced by stop.
#include "composit/numpy/spacing.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/literal.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

namespace composit::numpy {
namespace {

Shape leading_ones(Shape shape, size_t rank) {
    shape.insert(shape.begin(), rank - shape.size(), 1);
    return shape;
}

}  // namespace

Tensor spaced(const Operand& start, const Operand& stop, int64_t count, bool endpoint,
              std::optional<DType> dtype, int64_t axis) {
    user_check(count >= 0, "linspace: Number of samples, ", count, ", must be non-negative.");
    const Tensor &low = start, &high = stop;
    const DType common = result_type({low, high});
    const DType inner = ir::is_inexact(common) ? common : DType::float64;
    const Shape shape = ops::broadcast_shapes("linspace", {low.shape(), high.shape()});
    const int rank = static_cast<int>(shape.size());
    const int64_t to = normalize_axis("linspace", axis, rank + 1);
    const DType result_dtype = dtype.value_or(inner);
    const auto build = [&](const Tensors& of) {
        const Tensor first = of[0], last = of[1], whole = last - first;
        const int64_t parts = endpoint ? count - 1 : count;
        Shape column(static_cast<size_t>(rank) + 1, 1);
        column[0] = count;
        const Tensor numbers = reshape(ops::astype(arange(count), inner), column);
        Tensor moved;
        if (parts > 0) {
            const Tensor step = whole / parts;
            // A step too small for its dtype: the parts are taken first.
            const Tensor is_lost = apply("equal", {step, 0});
            moved = apply("where", {is_lost, numbers / parts * whole, numbers * step});
        } else {
            moved = numbers * whole;
        }
        Tensor y = moved + first;
        if (endpoint && count > 1)
            y = ops::concatenate(
                {ops::part(y, 0, 0, count - 1), expand_dims(broadcast_to(last, shape), 0)}, 0);
        if (to != 0) y = moveaxis(y, 0, to);
        if (ir::is_integer(result_dtype)) y = apply("floor", {y});
        return ops::astype(y, result_dtype);
    };
    return one_node("linspace", {ops::astype(low, inner), ops::astype(high, inner)}, build);
}

Tensor logspace(const Operand& start, const Operand& stop, int64_t count, bool endpoint,
                const Operand& base, std::optional<DType> dtype, int64_t axis) {
    return errors_as("logspace", [&] {
        Tensor first = start, last = stop, power = base;
        const std::optional<double> low = literal(first), high = literal(last);
        Tensor exponents;
        if (low && high && power.rank() == 0) {
            (void)normalize_axis("logspace", axis, 1);
            exponents = linspace(*low, *high, count, endpoint, DType::float64);
            power = strong(power);
        } else {
            if (power.rank() > 0) {
                const Shape shape = broadcast_shapes({first.shape(), last.shape(), power.shape()});
                for (Tensor* each : {&first, &last, &power})
                    *each = reshape(*each, leading_ones(each->shape(), shape.size()));
                power = expand_dims(power, axis);
            }
            exponents = spaced(first, last, count, endpoint, {}, axis);
        }
        const Tensor result = apply("power", {power, exponents});
        return dtype ? ops::astype(result, *dtype) : result;
    });
}

Tensor geomspace(const Operand& start, const Operand& stop, int64_t count, bool endpoint,
                 std::optional<DType> dtype, int64_t axis) {
    const Tensor &first = start, &last = stop;
    const Tensor is_there = apply(
        "logical_and", {all(apply("not_equal", {first, 0})), all(apply("not_equal", {last, 0}))});
    user_check(!is_violated(is_there), "geomspace: Geometric sequence cannot include zero.");
    return errors_as("geomspace", [&] {
        const DType inner =
            ir::promote(result_type({first, last, Operand(1.0)}), dtype.value_or(DType::float64));
        const Tensor from = ops::astype(strong(first), inner),
                     to = ops::astype(strong(last), inner);
        const Tensor sign = apply("sign", {from});
        const Tensor low = from / sign, high = to / sign;
        Tensor result =
            logspace(apply("log10", {low}), apply("log10", {high}), count, endpoint, 10.0, inner);
        // The ends are exact.
        std::vector<Tensor> parts;
        const Shape shape = ops::broadcast_shapes("geomspace", {low.shape(), high.shape()});
        const auto end = [&](const Tensor& x) { return expand_dims(broadcast_to(x, shape), 0); };
        const int64_t behind = endpoint && count > 1 ? 1 : 0;
        if (count > 0) {
            parts.push_back(end(low));
            parts.push_back(ops::part(result, 0, 1, count - 1 - behind));
            if (behind) parts.push_back(end(high));
            result = ops::concatenate(parts, 0);
        }
        result = result * sign;
        const int64_t at = normalize_axis("geomspace", axis, result.rank());
        if (at != 0) result = moveaxis(result, 0, at);
        return dtype ? ops::astype(result, *dtype) : result;
    });
}

}  // namespace composit::numpy
