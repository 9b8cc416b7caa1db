// linspace as NumPy computes it: multiples of a step after the start, the last replaced by stop.
#include "composit/numpy/spacing.h"

#include "composit/base/error.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

namespace composit::numpy {

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

}  // namespace composit::numpy
