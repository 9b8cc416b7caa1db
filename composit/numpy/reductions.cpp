// Reductions: NumPy's dtypes, axis arguments, initial and where, over the primitive reduce.
#include "composit/numpy/reductions.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numeric>

namespace composit::numpy {
namespace {

using ops::Combiner;
using Axes = std::vector<int64_t>;

// bool and narrow integers are totalled in 64 bits.
DType total_dtype(DType x) {
    if (x == DType::boolean || ir::is_signed_integer(x)) return DType::int64;
    return ir::is_unsigned_integer(x) ? DType::uint64 : x;
}

int64_t count_of(const Shape& shape, const Axes& axes) {
    int64_t count = 1;
    for (int64_t axis : axes) count *= shape[static_cast<size_t>(axis)];
    return count;
}

void check_mask(std::string_view function, const Tensor& where) {
    if (where)
        user_check<TypeError>(where.dtype() == DType::boolean, function, ": where has dtype ",
                              where.dtype(), ". bool is required.");
}

// x where the mask, if there is one, is true, `rest` elsewhere; the mask may not have more
// dimensions than x.
Tensor masked(std::string_view function, const Tensor& x, const Tensor& where, const Tensor& rest) {
    if (!where) return x;
    check_mask(function, where);
    return errors_as(function,
                     [&] { return apply("where", {broadcast_to(where, x.shape()), x, rest}); });
}
Tensor masked(std::string_view function, const Tensor& x, const Tensor& where, double rest) {
    return where ? masked(function, x, where, scalar(x.dtype(), rest)) : x;
}

// sum and product.
Tensor total(std::string_view function, Combiner combiner, const Tensor& x, const Axis& axis,
             std::optional<DType> dtype, bool keepdims, const Operand& initial,
             const Tensor& where) {
    const bool is_sum = combiner == Combiner::sum;
    const DType to = dtype ? *dtype : total_dtype(x.dtype());
    return errors_as(function, [&] {
        Tensor values = ops::astype(x, to);
        values = masked(function, values, where, is_sum ? 0.0 : 1.0);
        // Among bools a sum is "or", a product "and".
        const Combiner used = to != DType::boolean ? combiner
                              : is_sum             ? Combiner::any
                                                   : Combiner::all;
        const Tensor result =
            ops::reduce(used, values, axis.of_reduction(function, x.rank()), keepdims);
        if (!initial) return result;
        check_integer_fits(function, initial, to);
        return apply(is_sum ? "add" : "multiply", {ops::astype(initial, to), result});
    });
}

// max and min.
Tensor extremum(std::string_view function, Combiner combiner, const Tensor& x, const Axis& axis,
                bool keepdims, const Operand& initial, const Tensor& where) {
    const std::string_view row = combiner == Combiner::maximum ? "maximum" : "minimum";
    user_check(initial || !where, function, ": reduction operation '", row,
               "' does not have an identity, so to use a where mask one has to specify 'initial'.");
    const Axes axes = axis.of_reduction(function, x.rank());
    Tensor values = strong(x);
    if (!initial) return ops::reduce(combiner, values, axes, keepdims);
    check_integer_fits(function, initial, x.dtype());
    const Tensor start = ops::astype(initial, x.dtype());
    values = masked(function, values, where, start);
    if (count_of(x.shape(), axes) > 0)
        return errors_as(function, [&] {
            return apply(row, {start, ops::reduce(combiner, values, axes, keepdims)});
        });
    const Tensor none = ops::reduce(Combiner::sum, values, axes, keepdims);  // for its shape
    return errors_as(function, [&] { return full(none.shape(), start); });
}

// The dtype that a mean is computed in, and that of the result.
struct MeanDTypes {
    DType inner, result;
};
MeanDTypes mean_dtypes(DType x, std::optional<DType> dtype) {
    const DType result = dtype ? *dtype : ir::is_inexact(x) ? x : DType::float64;
    return {ir::is_short_float(result) ? DType::float32 : result, result};
}

// How many elements each result counts: a scalar, or a tensor shaped as the result when masked.
Tensor counted(std::string_view function, const Tensor& x, const Tensor& where, const Axes& axes,
               bool keepdims) {
    if (!where) return ir::weak_scalar(count_of(x.shape(), axes));
    check_mask(function, where);
    const Tensor wide = errors_as(function, [&] { return broadcast_to(where, x.shape()); });
    const Tensor ones = ops::astype(wide, DType::int64);
    return ops::reduce(Combiner::sum, ones, axes, keepdims);
}

Tensor divided(const Tensor& total, const Tensor& count) {
    return apply("divide", {total, count.type().weak ? count : ops::astype(count, total.dtype())});
}

Tensor mean_of(const Tensor& x, const Tensor& where, const Axes& axes, bool keepdims) {
    const Tensor values = masked("mean", x, where, 0.0);
    return divided(ops::reduce(Combiner::sum, values, axes, keepdims),
                   counted("mean", x, where, axes, keepdims));
}

Tensor squared_size(const Tensor& x) {
    if (!ir::is_complex(x.dtype())) return apply("multiply", {x, x});
    return apply("real", {apply("multiply", {x, apply("conjugate", {x})})});
}

// What a variance is made of: x, and where given the mask and the mean.
struct Spread {
    Tensor x, where, mean;
    Axes axes;
    std::optional<DType> dtype;  // of both sums
    double ddof;
    bool keepdims;
};

// NumPy's order of conversions: the mean in the dtype of sums, deviations in what that and x
// promote to, their squares summed in the dtype again.
Tensor variance_of(const Spread& of) {
    const DType dtype = of.dtype.value_or(of.x.dtype());
    Tensor centre = of.mean;
    if (!centre)
        centre = ops::astype(mean_of(ops::astype(of.x, dtype), of.where, of.axes, true), dtype);
    const Tensor squares = squared_size(apply("subtract", {of.x, centre}));
    DType to = of.dtype.value_or(squares.dtype());
    if (ir::is_complex(to)) to = ir::real_part_of(to);
    const Tensor values = masked("var", ops::astype(squares, to), of.where, 0.0);
    const Tensor sum = ops::reduce(Combiner::sum, values, of.axes, of.keepdims);
    const Tensor count = counted("var", of.x, of.where, of.axes, of.keepdims);
    if (count.type().weak) {
        const double n = static_cast<double>(count_of(of.x.shape(), of.axes));
        return ops::astype(divided(sum, ir::weak_scalar(std::max(n - of.ddof, 0.0))), to);
    }
    const DType inexact = ir::is_inexact(to) ? to : DType::float64;
    const Tensor free = apply("subtract", {ops::astype(count, inexact), of.ddof});
    return ops::astype(apply("divide", {sum, apply("maximum", {free, 0.0})}), to);
}

// var and std: one node over x and, where given, the mask and the mean.
template <class Finish>
Tensor spread(std::string_view function, const Tensor& x, const Axis& axis,
              std::optional<DType> dtype, double ddof, bool keepdims, const Tensor& where,
              const Tensor& mean, const Finish& finish) {
    const Axes axes = axis.of(function, x.rank());
    const DType result = dtype ? *dtype : ir::is_inexact(x.dtype()) ? x.dtype() : DType::float64;
    std::optional<DType> sums = dtype;
    if (!sums && !ir::is_inexact(x.dtype())) sums = DType::float64;
    if (ir::is_short_float(result)) sums = DType::float32;
    Tensors operands{strong(x)};
    if (where) operands.push_back(where);
    if (mean) operands.push_back(strong(mean));
    return one_node(function, operands, [&](const Tensors& given) {
        const Tensor values =
            ir::is_short_float(x.dtype()) ? ops::astype(given[0], DType::float32) : given[0];
        const Tensor variance =
            variance_of({values, where ? given[1] : Tensor(), mean ? given.back() : Tensor(), axes,
                         sums, ddof, keepdims});
        return finish(ir::is_short_float(result) ? ops::astype(variance, result) : variance);
    });
}

// The variance of real numbers in a complex dtype, which is complex as in NumPy: the sum of squares
// as they are.
Tensor complex_variance(const Spread& of) {
    const Tensor wide = ops::astype(of.x, *of.dtype);
    const Tensor centre = of.mean ? of.mean : mean(wide, of.axes, {}, true, of.where);
    const Tensor squares = apply("square", {apply("subtract", {wide, centre})});
    const Tensor total = sum(squares, of.axes, {}, of.keepdims, {}, of.where);
    const Tensor ones = numpy::ones(wide.shape());
    const Tensor count = sum(ones, of.axes, {}, of.keepdims, {}, of.where);
    const Tensor free = apply("maximum", {apply("subtract", {count, of.ddof}), 0});
    return apply("divide", {total, free});
}

bool is_complex_of_real(const Tensor& x, std::optional<DType> dtype) {
    return dtype && ir::is_complex(*dtype) && !ir::is_complex(x.dtype());
}

// mean: one node over x and, where given, the mask.
template <class Build>
Tensor statistic(std::string_view function, const Tensor& x, std::optional<DType> dtype,
                 const Tensor& where, const Build& build) {
    const MeanDTypes dtypes = mean_dtypes(x.dtype(), dtype);
    Tensors operands{x};
    if (where) operands.push_back(where);
    return one_node(function, operands, [&](const Tensors& x) {
        const Tensor result =
            build(ops::astype(x[0], dtypes.inner), x.size() > 1 ? x[1] : Tensor());
        const bool is_real = ir::is_complex(dtypes.result) && !ir::is_complex(result.dtype());
        return ops::astype(result, is_real ? ir::real_part_of(dtypes.result) : dtypes.result);
    });
}

// The weights of an average, of x's rank.
Tensor aligned_weights(const Tensor& x, const Axis& axis, const Axes& axes, const Tensor& weights) {
    if (weights.shape() == x.shape()) return weights;
    user_check<TypeError>(!axis.is_none(),
                          "average: Axis must be specified when shapes of a and weights differ: ",
                          x.shape(), " and ", weights.shape(), ".");
    Shape aligned(x.shape().size(), 1), required;
    for (int64_t a : axes) required.push_back(x.shape()[static_cast<size_t>(a)]);
    user_check(
        weights.shape() == required,
        "average: Shape of weights must be consistent with shape of a along specified axis: ",
        weights.shape(), " and ", x.shape(), ".");
    for (int64_t a : axes) aligned[static_cast<size_t>(a)] = x.shape()[static_cast<size_t>(a)];
    Axes ascending(axes.size());
    std::iota(ascending.begin(), ascending.end(), int64_t{0});
    std::ranges::sort(ascending, {}, [&](int64_t i) { return axes[static_cast<size_t>(i)]; });
    return reshape(transpose(weights, ascending), aligned);
}

AverageAndWeights averaged(std::string_view function, const Tensor& x, const Axis& axis,
                           const Tensor& weights, bool keepdims) {
    const Axes axes = axis.of(function, x.rank());
    return errors_as(function, [&]() -> AverageAndWeights {
        if (!weights) {
            const Tensor result = mean(x, axes, {}, keepdims);
            user_check<ZeroDivisionError>(result.size() > 0,
                                          "average: division by zero: there are no averages.");
            const Tensor ones = numpy::ones(x.shape(), result.dtype());
            return {result, sum(ones, axes, {}, keepdims)};
        }
        const Tensor w = aligned_weights(x, axis, axes, weights);
        const DType common = result_type({x, w});
        const bool is_whole = x.dtype() == DType::boolean || ir::is_integer(x.dtype());
        const DType dtype = is_whole ? ir::promote(common, DType::float64) : common;
        const Tensor wide = broadcast_to(ops::astype(w, dtype), x.shape());
        const Tensor products = apply("multiply", {ops::astype(x, dtype), wide});
        const Tensor total = ops::reduce(Combiner::sum, wide, axes, keepdims);
        user_check<ZeroDivisionError>(!is_violated(all(apply("not_equal", {total, 0}))),
                                      "average: Weights sum to zero, can't be normalized.");
        return {apply("divide", {ops::reduce(Combiner::sum, products, axes, keepdims), total}),
                total};
    });
}

Tensor position(std::string_view function, Combiner combiner, const Tensor& x,
                std::optional<int64_t> axis, bool keepdims) {
    const Axes axes = (axis ? Axis(*axis) : Axis()).of_reduction(function, x.rank());
    return ops::reduce(combiner, strong(x), axes, keepdims);
}

Tensor logical(std::string_view function, Combiner combiner, const Tensor& x, const Axis& axis,
               bool keepdims, const Tensor& where) {
    Tensor values = ops::astype(x, DType::boolean);
    values = masked(function, values, where, combiner == Combiner::all ? 1.0 : 0.0);
    return ops::reduce(combiner, values, axis.of_reduction(function, x.rank()), keepdims);
}

Tensor running(std::string_view function, Combiner combiner, const Tensor& x,
               std::optional<int64_t> axis, std::optional<DType> dtype) {
    if (dtype == DType::boolean)  // whether the counts, or products of 0 and 1, are something
        return ops::astype(
            running(function, combiner, ops::astype(x, DType::boolean), axis, DType::int64),
            DType::boolean);
    const Tensor values = ops::astype(x, dtype ? *dtype : total_dtype(x.dtype()));
    if (!axis || is_axis_of_a_number(*axis, x.rank())) return ops::scan(combiner, ravel(values), 0);
    return ops::scan(combiner, values, normalize_axis(function, *axis, x.rank()));
}

}  // namespace

Tensor sum(const Tensor& x, const Axis& axis, std::optional<DType> dtype, bool keepdims,
           const Operand& initial, const Tensor& where) {
    return total("sum", Combiner::sum, x, axis, dtype, keepdims, initial, where);
}

Tensor prod(const Tensor& x, const Axis& axis, std::optional<DType> dtype, bool keepdims,
            const Operand& initial, const Tensor& where) {
    return total("prod", Combiner::product, x, axis, dtype, keepdims, initial, where);
}

Tensor max(const Tensor& x, const Axis& axis, bool keepdims, const Operand& initial,
           const Tensor& where) {
    return extremum("max", Combiner::maximum, x, axis, keepdims, initial, where);
}

Tensor min(const Tensor& x, const Axis& axis, bool keepdims, const Operand& initial,
           const Tensor& where) {
    return extremum("min", Combiner::minimum, x, axis, keepdims, initial, where);
}

Tensor amax(const Tensor& x, const Axis& axis, bool keepdims, const Operand& initial,
            const Tensor& where) {
    return extremum("amax", Combiner::maximum, x, axis, keepdims, initial, where);
}

Tensor amin(const Tensor& x, const Axis& axis, bool keepdims, const Operand& initial,
            const Tensor& where) {
    return extremum("amin", Combiner::minimum, x, axis, keepdims, initial, where);
}

Tensor ptp(const Tensor& x, const Axis& axis, bool keepdims) {
    const Axes axes = axis.of_reduction("ptp", x.rank());
    return errors_as(
        "ptp", [&] { return apply("subtract", {max(x, axes, keepdims), min(x, axes, keepdims)}); });
}

Tensor mean(const Tensor& x, const Axis& axis, std::optional<DType> dtype, bool keepdims,
            const Tensor& where) {
    const Axes axes = axis.of("mean", x.rank());
    return statistic("mean", x, dtype, where, [&](const Tensor& values, const Tensor& mask) {
        return mean_of(values, mask, axes, keepdims);
    });
}

Tensor var(const Tensor& x, const Axis& axis, std::optional<DType> dtype, double ddof,
           bool keepdims, const Tensor& where, const Tensor& mean) {
    if (is_complex_of_real(x, dtype))
        return errors_as("var", [&] {
            const Axes axes = axis.of("var", x.rank());
            return complex_variance({x, where, mean, axes, dtype, ddof, keepdims});
        });
    return spread("var", x, axis, dtype, ddof, keepdims, where, mean,
                  [](const Tensor& variance) { return variance; });
}

Tensor std(const Tensor& x, const Axis& axis, std::optional<DType> dtype, double ddof,
           bool keepdims, const Tensor& where, const Tensor& mean) {
    if (is_complex_of_real(x, dtype))
        return errors_as("std", [&] {
            return apply("sqrt", {var(x, axis, dtype, ddof, keepdims, where, mean)});
        });
    return spread("std", x, axis, dtype, ddof, keepdims, where, mean, [](const Tensor& variance) {
        const DType dtype = variance.dtype();
        user_check<TypeError>(ir::is_inexact(dtype) || variance.rank() == 0,
                              "std: Cannot cast ufunc 'sqrt' output from dtype('float64') to ",
                              dtype,
                              " with casting rule 'same_kind'. A floating dtype is required.");
        const DType inexact = ir::is_inexact(dtype) ? dtype : DType::float64;
        return ops::astype(apply("sqrt", {ops::astype(variance, inexact)}), dtype);
    });
}

Tensor average(const Tensor& x, const Axis& axis, const Tensor& weights, bool keepdims) {
    return averaged("average", x, axis, weights, keepdims).average;
}

AverageAndWeights average_and_weights(const Tensor& x, const Axis& axis, const Tensor& weights,
                                      bool keepdims) {
    return averaged("average_and_weights", x, axis, weights, keepdims);
}

Tensor argmax(const Tensor& x, std::optional<int64_t> axis, bool keepdims) {
    return position("argmax", Combiner::argmax, x, axis, keepdims);
}

Tensor argmin(const Tensor& x, std::optional<int64_t> axis, bool keepdims) {
    return position("argmin", Combiner::argmin, x, axis, keepdims);
}

Tensor any(const Tensor& x, const Axis& axis, bool keepdims, const Tensor& where) {
    return logical("any", Combiner::any, x, axis, keepdims, where);
}

Tensor all(const Tensor& x, const Axis& axis, bool keepdims, const Tensor& where) {
    return logical("all", Combiner::all, x, axis, keepdims, where);
}

Tensor count_nonzero(const Tensor& x, const Axis& axis, bool keepdims) {
    const Tensor ones = ops::astype(ops::astype(x, DType::boolean), DType::int64);
    return ops::reduce(Combiner::sum, ones, axis.of_reduction("count_nonzero", x.rank()), keepdims);
}

Tensor cumsum(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
    return running("cumsum", Combiner::sum, x, axis, dtype);
}

Tensor cumprod(const Tensor& x, std::optional<int64_t> axis, std::optional<DType> dtype) {
    return running("cumprod", Combiner::product, x, axis, dtype);
}

}  // namespace composit::numpy
