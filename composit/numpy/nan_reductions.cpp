// Reductions of what is left when NaN is replaced by the value that does not count.
#include "composit/numpy/nan_reductions.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <cmath>
#include <limits>

namespace composit::numpy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The value; an infinite one, of complex dtypes, is less or greater than all others.
Tensor filling(DType dtype, double value) {
    if (!ir::is_complex(dtype) || !std::isinf(value)) return scalar(dtype, value);
    const Tensor part = scalar(ir::real_part_of(dtype), value);
    return apply("as_complex", {part, part});
}

// x with NaN replaced; itself where its dtype has none.
Tensor replaced(const Tensor& x, double value) {
    const Tensor given = strong(x);
    if (!ir::is_inexact(given.dtype())) return given;
    return apply("where", {apply("isnan", {given}), filling(given.dtype(), value), given});
}

Tensor is_number(const Tensor& x) { return apply("logical_not", {apply("isnan", {x})}); }

// x where it was found; elsewhere NaN, and a warning when it is evaluated. x itself where its dtype
// is not of real floats.
Tensor remarked(std::string_view row, const Tensor& x, const Tensor& is_missing) {
    return ir::is_floating(x.dtype()) ? apply(row, {x, is_missing}) : x;
}

// nanmax and nanmin: `row` takes the number where one of two operands is NaN.
template <class Extremum>
Tensor extremum(std::string_view function, const Extremum& reduction, std::string_view row,
                double least, const Tensor& x, const Axis& axis, bool keepdims,
                const Operand& initial, const Tensor& where) {
    return errors_as(function, [&] {
        const Tensor values = replaced(x, least);
        if (!ir::is_inexact(values.dtype()))
            return reduction(values, axis, keepdims, initial, where);
        const Operand start =
            where || initial ? Operand(filling(values.dtype(), least)) : Operand();
        const Tensor found = any(is_number(x), axis, keepdims, where);
        user_check(initial || !where, function, ": reduction operation '", row,
                   "' does not have an identity, so to use a where mask one has to specify "
                   "'initial'.");
        const Tensor numbers = reduction(values, axis, keepdims, start, where);
        if (!initial && ir::is_floating(numbers.dtype()))
            return remarked("remark_all_nan", numbers, apply("logical_not", {found}));
        const Tensor result =
            apply("where", {found, numbers, scalar(values.dtype(), not_a_number)});
        return initial ? apply(row, {ops::astype(initial, values.dtype()), result}) : result;
    });
}

struct Argument {
    std::string_view name;
    Tensor (*function)(const Tensor&, std::optional<int64_t>, bool);
};

Tensor position(std::string_view function, const Argument& argument, double least, const Tensor& x,
                std::optional<int64_t> axis, bool keepdims) {
    return errors_as(function, [&] {
        const Tensor values = replaced(x, least);
        if (ir::is_inexact(values.dtype()) && values.size() > 0) {
            const Tensor nothing =
                any(all(apply("isnan", {strong(x)}), axis ? Axis(*axis) : Axis()));
            const std::string instead =
                text(argument.name, "(where(isnan(x), ", least > 0 ? "inf" : "-inf", ", x))");
            user_check(!truth(function, nothing, instead), function,
                       ": All-NaN slice encountered. At least one number in each is required.");
        }
        return argument.function(values, axis, keepdims);
    });
}

void check_inexact(std::string_view function, const Tensor& x, std::optional<DType> dtype) {
    if (!ir::is_inexact(x.dtype()) || !dtype) return;
    user_check<TypeError>(ir::is_inexact(*dtype), function,
                          ": If a is inexact, then dtype must be inexact: ", *dtype, ".");
}

// The sum of values that are numbers, over their count less ddof. That there may be none is no
// error of the division.
Tensor shared(const Tensor& total, const Tensor& count, double ddof) {
    const ir::LocationScope quiet(ir::current_location(), nullptr);
    const Tensor wide = ops::astype(count, total.dtype());
    return apply("divide", {total, ddof == 0 ? wide : apply("subtract", {wide, ddof})});
}

// nanvar's and nanstd's operands: x, and where given `where` and `mean`.
struct Given {
    Tensor x, where, mean;
};

// `total_dtype` is the dtype of the sum of squares, which are real.
Tensor variance(const Given& given, const Axis& axis, DType dtype, DType total_dtype, double ddof,
                bool keepdims) {
    const Tensor number = is_number(given.x);
    const Tensor zero = scalar(given.x.dtype(), 0);
    const Tensor values = apply("where", {number, given.x, zero});
    Tensor centre = given.mean;
    if (!centre)
        centre = shared(sum(values, axis, dtype, true, {}, given.where),
                        sum(number, axis, DType::int64, true, {}, given.where), 0);
    // NumPy keeps deviations in x's dtype, whatever the dtype of the sum.
    const Tensor deviation =
        ops::astype(apply("subtract", {ops::astype(values, dtype), centre}), given.x.dtype());
    const Tensor counted = apply("where", {number, deviation, zero});
    const Tensor squares =
        ir::is_complex(counted.dtype())
            ? apply("real", {apply("multiply", {counted, apply("conjugate", {counted})})})
            : apply("multiply", {counted, counted});
    const Tensor total = sum(squares, axis, total_dtype, keepdims, {}, given.where);
    const Tensor count = sum(number, axis, DType::int64, keepdims, {}, given.where);
    const Tensor free = apply("subtract", {ops::astype(count, DType::float64), ddof});
    const Tensor is_missing = apply("less_equal", {free, 0}), result = shared(total, count, ddof);
    if (ir::is_floating(total.dtype())) return remarked("remark_degrees", result, is_missing);
    return apply("where", {is_missing, scalar(total.dtype(), not_a_number), result});
}

template <class Finish>
Tensor spread(std::string_view function, const Tensor& x, const Axis& axis,
              std::optional<DType> dtype, double ddof, bool keepdims, const Tensor& where,
              const Tensor& mean, const Finish& finish) {
    check_inexact(function, x, dtype);
    const Tensor values = strong(x);
    const DType to = dtype.value_or(values.dtype());
    const DType total = dtype.value_or(ir::real_part_of(values.dtype()));
    Tensors operands{values};
    if (where) operands.push_back(where);
    if (mean) operands.push_back(strong(mean));
    return one_node(function, operands, [&](const Tensors& given) {
        const Tensor mask = where ? given[1] : Tensor();
        return finish(variance({given[0], mask, mean ? given.back() : Tensor()}, axis, to, total,
                               ddof, keepdims));
    });
}

}  // namespace

Tensor nansum(const Tensor& x, const Axis& axis, std::optional<DType> dtype, bool keepdims,
              const Operand& initial, const Tensor& where) {
    return errors_as("nansum",
                     [&] { return sum(replaced(x, 0), axis, dtype, keepdims, initial, where); });
}

Tensor nanprod(const Tensor& x, const Axis& axis, std::optional<DType> dtype, bool keepdims,
               const Operand& initial, const Tensor& where) {
    return errors_as("nanprod",
                     [&] { return prod(replaced(x, 1), axis, dtype, keepdims, initial, where); });
}

Tensor nanmax(const Tensor& x, const Axis& axis, bool keepdims, const Operand& initial,
              const Tensor& where) {
    return extremum("nanmax", max, "fmax", -infinity, x, axis, keepdims, initial, where);
}

Tensor nanmin(const Tensor& x, const Axis& axis, bool keepdims, const Operand& initial,
              const Tensor& where) {
    return extremum("nanmin", min, "fmin", infinity, x, axis, keepdims, initial, where);
}

Tensor nanmean(const Tensor& x, const Axis& axis, std::optional<DType> dtype, bool keepdims,
               const Tensor& where) {
    if (!ir::is_inexact(x.dtype()))
        return errors_as("nanmean", [&] { return mean(x, axis, dtype, keepdims, where); });
    check_inexact("nanmean", x, dtype);
    Tensors operands{strong(x)};
    if (where) operands.push_back(where);
    return one_node("nanmean", operands, [&](const Tensors& given) {
        const Tensor mask = given.size() > 1 ? given[1] : Tensor();
        const Tensor number = is_number(given[0]);
        const Tensor count = sum(number, axis, DType::int64, keepdims, {}, mask);
        const Tensor total = sum(replaced(given[0], 0), axis, dtype, keepdims, {}, mask);
        return remarked("remark_empty", shared(total, count, 0), apply("equal", {count, 0}));
    });
}

Tensor nanvar(const Tensor& x, const Axis& axis, std::optional<DType> dtype, double ddof,
              bool keepdims, const Tensor& where, const Tensor& mean) {
    if (ir::is_inexact(x.dtype()))
        return spread("nanvar", x, axis, dtype, ddof, keepdims, where, mean,
                      [](const Tensor& variance) { return variance; });
    return errors_as("nanvar", [&] { return var(x, axis, dtype, ddof, keepdims, where, mean); });
}

Tensor nanstd(const Tensor& x, const Axis& axis, std::optional<DType> dtype, double ddof,
              bool keepdims, const Tensor& where, const Tensor& mean) {
    if (ir::is_inexact(x.dtype()))
        return spread("nanstd", x, axis, dtype, ddof, keepdims, where, mean,
                      [](const Tensor& variance) { return apply("sqrt", {variance}); });
    return errors_as("nanstd", [&] { return std(x, axis, dtype, ddof, keepdims, where, mean); });
}

Tensor nanargmax(const Tensor& x, std::optional<int64_t> axis, bool keepdims) {
    return position("nanargmax", Argument{"argmax", argmax}, -infinity, x, axis, keepdims);
}

Tensor nanargmin(const Tensor& x, std::optional<int64_t> axis, bool keepdims) {
    return position("nanargmin", Argument{"argmin", argmin}, infinity, x, axis, keepdims);
}

Tensor nancumsum(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
    return errors_as("nancumsum", [&] { return cumsum(replaced(x, 0), axis, dtype); });
}

Tensor nancumprod(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
    return errors_as("nancumprod", [&] { return cumprod(replaced(x, 1), axis, dtype); });
}

}  // namespace composit::numpy
