// Differences, running totals and integrals as graphs of slices and rows.
#include "composit/numpy/differences.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/literal.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>

namespace composit::numpy {
namespace {

using ops::part;

int64_t length(const Tensor& x, int64_t axis) { return x.shape()[static_cast<size_t>(axis)]; }

// Arithmetic of tensors, and of Python numbers, which stay weak.
struct Value {
    Tensor tensor;
    Value(Tensor x) : tensor(std::move(x)) {}
    Value(double x) : tensor(ir::weak_scalar(x)) {}
};
Value operator+(const Value& a, const Value& b) { return combined("add", a.tensor, b.tensor); }
Value operator-(const Value& a, const Value& b) { return combined("subtract", a.tensor, b.tensor); }
Value operator*(const Value& a, const Value& b) { return combined("multiply", a.tensor, b.tensor); }
Value operator/(const Value& a, const Value& b) { return combined("divide", a.tensor, b.tensor); }
Value operator-(const Value& a) { return Value(-1.0) * a; }

template <class Running>
Tensor cumulative(std::string_view function, const Running& running, double identity,
                  const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype,
                  bool include_initial) {
    return errors_as(function, [&] {
        const Tensor values = atleast_1d(strong(x));
        user_check(axis || values.rank() == 1, function,
                   ": For arrays which have more than one dimension ``axis`` argument is required; "
                   "x has ",
                   values.rank(), ".");
        const int64_t along = normalize_axis(function, axis.value_or(0), values.rank());
        const Tensor result = running(values, along, dtype);
        if (!include_initial) return result;
        Shape one = values.shape();
        one[static_cast<size_t>(along)] = 1;
        return concatenate({full(one, scalar(result.dtype(), identity)), result}, along);
    });
}

// to_begin or to_end, flat and in x's dtype.
Tensor end_of(std::string_view name, const Tensor& end, DType dtype) {
    const Tensor values = strong(end);
    user_check<TypeError>(
        kind_rank(values.dtype()) <= kind_rank(dtype), "ediff1d: dtype of `", name,
        "` must be compatible with input `ary` under the `same_kind` rule: ", values.dtype(),
        " and ", dtype, ".");
    return ravel(ops::astype(values, dtype));
}

// The spacing along an axis: one number, or differences of coordinates.
struct Spacing {
    Tensor step;         // 0-d: of all, or the first of the differences
    Tensor differences;  // 1-d, if coordinates are given
};

Spacing spacing_of(const Tensor& given, int64_t count) {
    if (given.rank() == 0) return {given, {}};
    user_check(given.rank() == 1, "gradient: distances must be either scalars or 1d, not of shape ",
               given.shape(), ".");
    user_check(length(given, 0) == count,
               "gradient: when 1d, distances must match the length of "
               "the corresponding dimension: ",
               length(given, 0), " and ", count, ".");
    user_check<IndexError>(count > 1, "gradient: ", count,
                           " coordinates have no differences. At least 2 are required.");
    const bool is_integer = ir::is_integer(given.dtype());
    const Tensor steps = diff(is_integer ? ops::astype(given, DType::float64) : given);
    return {reshape(part(steps, 0, 0, 1), {}), steps};
}

// gradient along one axis.
struct Slopes {
    const Tensor& f;
    int64_t axis;
    int64_t edge_order;

    Value at(int64_t start, int64_t count) const { return part(f, axis, start, count); }
    Value along(const Tensor& steps, int64_t start, int64_t count) const {
        Shape shape(f.shape().size(), 1);
        shape[static_cast<size_t>(axis)] = count;
        return reshape(part(steps, 0, start, count), shape);
    }
    Tensor joined(const Value& first, const Value& inner, const Value& last, DType dtype) const {
        return ops::concatenate({ops::astype(first.tensor, dtype), ops::astype(inner.tensor, dtype),
                                 ops::astype(last.tensor, dtype)},
                                axis);
    }

    Tensor evenly(const Value& dx, DType dtype) const {
        const int64_t n = length(f, axis);
        const Value inner = (at(2, n - 2) - at(0, n - 2)) / (2.0 * dx);
        if (edge_order == 1)
            return joined((at(1, 1) - at(0, 1)) / dx, inner, (at(n - 1, 1) - at(n - 2, 1)) / dx,
                          dtype);
        const Value first = -1.5 / dx * at(0, 1) + 2.0 / dx * at(1, 1) + -0.5 / dx * at(2, 1);
        const Value last =
            0.5 / dx * at(n - 3, 1) + -2.0 / dx * at(n - 2, 1) + 1.5 / dx * at(n - 1, 1);
        return joined(first, inner, last, dtype);
    }

    Tensor unevenly(const Tensor& steps, DType dtype) const {
        const int64_t n = length(f, axis);
        const Value left = along(steps, 0, n - 2), right = along(steps, 1, n - 2);
        const Value inner = -right / (left * (left + right)) * at(0, n - 2) +
                            (right - left) / (left * right) * at(1, n - 2) +
                            left / (right * (left + right)) * at(2, n - 2);
        const Value d0 = along(steps, 0, 1), dn = along(steps, n - 2, 1);
        if (edge_order == 1)
            return joined((at(1, 1) - at(0, 1)) / d0, inner, (at(n - 1, 1) - at(n - 2, 1)) / dn,
                          dtype);
        const Value d1 = along(steps, 1, 1), dm = along(steps, n - 3, 1);
        const Value first = -(2.0 * d0 + d1) / (d0 * (d0 + d1)) * at(0, 1) +
                            (d0 + d1) / (d0 * d1) * at(1, 1) + -d0 / (d1 * (d0 + d1)) * at(2, 1);
        const Value last = dn / (dm * (dm + dn)) * at(n - 3, 1) +
                           -(dn + dm) / (dm * dn) * at(n - 2, 1) +
                           (2.0 * dn + dm) / (dn * (dm + dn)) * at(n - 1, 1);
        return joined(first, inner, last, dtype);
    }
};

Tensor slopes(const Tensor& f, const Spacing& spacing, int64_t axis, int64_t edge_order,
              DType dtype) {
    const Slopes slopes{f, axis, edge_order};
    if (!spacing.differences) return slopes.evenly(spacing.step, dtype);
    // Coordinates that are evenly spaced are one step, whose formulas round in another way, and
    // which subtract: bool is refused then.
    const Tensor is_even = all(apply("equal", {spacing.differences, spacing.step}));
    const Tensor uneven = slopes.unevenly(spacing.differences, dtype);
    if (f.dtype() == DType::boolean && !truth("gradient", is_even, "a float x")) return uneven;
    const Tensor even = slopes.evenly(spacing.step, dtype);
    return apply("where", {is_even, even, uneven});
}

}  // namespace

Tensor cumulative_sum(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype,
                      bool include_initial) {
    return cumulative("cumulative_sum", cumsum, 0, x, axis, dtype, include_initial);
}

Tensor cumulative_prod(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype,
                       bool include_initial) {
    return cumulative("cumulative_prod", cumprod, 1, x, axis, dtype, include_initial);
}

Tensor ediff1d(const Tensor& x, const Operand& to_end, const Operand& to_begin) {
    return errors_as("ediff1d", [&] {
        const Tensor values = ravel(strong(x));
        std::vector<Tensor> parts;
        if (to_begin) parts.push_back(end_of("to_begin", to_begin, values.dtype()));
        const int64_t left = std::max<int64_t>(0, values.size() - 1);
        parts.push_back(apply(
            "subtract", {part(values, 0, values.size() - left, left), part(values, 0, 0, left)}));
        if (to_end) parts.push_back(end_of("to_end", to_end, values.dtype()));
        return parts.size() == 1 ? parts[0] : ops::concatenate(parts, 0);
    });
}

std::vector<Tensor> gradient(const Tensor& x, const std::vector<Operand>& spacing, const Axis& axis,
                             int64_t edge_order) {
    const std::vector<int64_t> axes = axis.of("gradient", x.rank());
    const size_t count = spacing.size();
    const bool is_shared = count == 1 && spacing[0].tensor().rank() == 0;
    user_check<TypeError>(count == 0 || is_shared || count == axes.size(),
                          "gradient: invalid number of arguments: ", count, " spacings for ",
                          axes.size(), " axes. None, one number, or one for each is required.");
    return errors_as("gradient", [&] {
        std::vector<Spacing> steps;
        for (size_t i = 0; i < axes.size(); ++i) {
            const Operand given = count == 0 ? Operand(1.0) : spacing[is_shared ? 0 : i];
            steps.push_back(spacing_of(given, length(x, axes[i])));
        }
        user_check(edge_order <= 2,
                   "gradient: 'edge_order' greater than 2 not supported: ", edge_order,
                   ". 1 or 2 is required.");
        const Tensor values = strong(x);
        const Tensor f =
            ir::is_integer(values.dtype()) ? ops::astype(values, DType::float64) : values;
        const DType dtype = ir::is_inexact(f.dtype()) ? f.dtype() : DType::float64;
        std::vector<Tensor> results;
        for (size_t i = 0; i < axes.size(); ++i) {
            user_check(length(f, axes[i]) > edge_order,
                       "gradient: Shape of array too small to calculate a numerical gradient: ",
                       length(f, axes[i]), " elements along axis ", axes[i],
                       ". At least (edge_order + 1) elements are required.");
            if (edge_order != 1 && length(f, axes[i]) < 3) {
                (void)apply("subtract", {f, f});  // bool is another error
                fail<IndexError>("gradient: the parabolas at the ends take 3 elements; axis ",
                                 axes[i], " has ", length(f, axes[i]), ".");
            }
            results.push_back(slopes(f, steps[i], axes[i], edge_order, dtype));
        }
        return results;
    });
}

Tensor trapezoid(const Tensor& y, const Tensor& x, const Operand& dx, int64_t axis) {
    const int64_t along = normalize_axis("trapezoid", axis, y.rank());
    return errors_as("trapezoid", [&] {
        Tensor step = dx;
        if (x && x.rank() == 1) {
            step = diff(x);
            Shape shape(y.shape().size(), 1);
            shape[static_cast<size_t>(along)] = step.size();
            step = reshape(step, shape);
        } else if (x) {
            step = diff(x, 1, axis);
        }
        const int64_t n = length(y, along), left = std::max<int64_t>(0, n - 1);
        const Tensor ends = apply("add", {part(y, along, n - left, left), part(y, along, 0, left)});
        const Tensor areas = apply("divide", {apply("multiply", {step, ends}), 2.0});
        return sum(areas, areas.rank() == y.rank() ? along : axis);
    });
}

Tensor unwrap(const Tensor& p, const Operand& discont, int64_t axis, const Operand& period) {
    return errors_as("unwrap", [&] {
        const Tensor values = strong(p);
        const Tensor change = diff(values, 1, axis);
        const int64_t along = normalize_axis("unwrap", axis, values.rank());
        const Tensor whole = period;
        const DType dtype = result_type({change, whole});
        const bool is_integer = ir::is_integer(dtype);
        const Tensor high = combined(is_integer ? "floor_divide" : "divide", whole, 2);
        const Tensor low = combined("multiply", high, -1);
        const Tensor wrapped =
            apply("add", {apply("remainder", {apply("subtract", {change, low}), whole}), low});
        // Half a period down is half a period up where the change is upwards.
        Tensor is_border =
            apply("logical_and", {apply("equal", {wrapped, low}), apply("greater", {change, 0})});
        if (is_integer)
            is_border = apply("logical_and",
                              {is_border, apply("equal", {combined("remainder", whole, 2), 0})});
        const Tensor nearest =
            apply("where", {is_border, ops::astype(high, wrapped.dtype()), wrapped});
        const Tensor least = discont ? discont.tensor() : combined("divide", whole, 2);
        const Tensor correction = apply("subtract", {nearest, change});
        const Tensor jumps = apply("where", {apply("less", {apply("absolute", {change}), least}),
                                             scalar(correction.dtype(), 0), correction});
        const int64_t n = length(values, along), first = std::min<int64_t>(1, n);
        const Tensor moved =
            apply("add", {part(values, along, first, n - first), cumsum(jumps, along)});
        return ops::concatenate(
            {ops::astype(part(values, along, 0, first), dtype), ops::astype(moved, dtype)}, along);
    });
}

}  // namespace composit::numpy
