// Quantiles as NumPy computes them: a position between sorted values, and a line between those.
#include "composit/numpy/quantiles.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/literal.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/merged_axes.h"
#include "composit/numpy/nan_reductions.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>
#include <array>

namespace composit::numpy {
namespace {

using ir::DType;

// How a method turns a quantile into a position: n q + alpha + q (1 - alpha - beta) - 1, or rules.
enum class Rule { line, linear, averaged, midpoint, lower, higher, nearest, inverted, closest };

struct Method {
    std::string_view name;
    Rule rule;
    double alpha = 0, beta = 0;
    bool picks = false;  // a value, and no place between two
};

constexpr std::array<Method, 13> methods{{
    {"inverted_cdf", Rule::inverted, 0, 0, true},
    {"averaged_inverted_cdf", Rule::averaged},
    {"closest_observation", Rule::closest, 0, 0, true},
    {"interpolated_inverted_cdf", Rule::line, 0, 1},
    {"hazen", Rule::line, 0.5, 0.5},
    {"weibull", Rule::line, 0, 0},
    {"linear", Rule::linear},
    {"median_unbiased", Rule::line, 1 / 3.0, 1 / 3.0},
    {"normal_unbiased", Rule::line, 3 / 8.0, 3 / 8.0},
    {"lower", Rule::lower, 0, 0, true},
    {"higher", Rule::higher, 0, 0, true},
    {"midpoint", Rule::midpoint},
    {"nearest", Rule::nearest, 0, 0, true},
}};

Method method_of(std::string_view function, std::string_view name) {
    std::string known;
    for (const Method& method : methods) {
        if (method.name == name) return method;
        known += (known.empty() ? "" : ", ") + std::string(method.name);
    }
    fail<ValueError>(function, ": '", name, "' is not a valid method. Use one of: ", known, ".");
}

// The next whole number above `position` less 1, or below where `stays` holds; none below 0.
Tensor whole(const Tensor& position, const Tensor& stays) {
    const Tensor below = apply("floor", {position});
    return apply("maximum", {apply("where", {stays, below, below + 1}), 0});
}

// A whole number as an integer: positions of whole shares are integers then, as in NumPy.
Operand number(double value) {
    const auto rounded = static_cast<int64_t>(value);
    return static_cast<double>(rounded) == value ? Operand(rounded) : Operand(value);
}

// The position among `count` sorted values, from 0; a whole number for methods that pick.
Tensor position_of(const Method& method, const Tensor& count, const Tensor& q) {
    const Tensor less_one = combined("subtract", count, 1);
    switch (method.rule) {
        case Rule::line:
            return count * q +
                   (number(method.alpha).tensor() +
                    q * number(1 - method.alpha - method.beta).tensor()) -
                   1;
        case Rule::linear: return less_one * q;
        case Rule::averaged: return count * q - 1;
        case Rule::midpoint: {
            const Tensor at = less_one * q;
            return 0.5 * (apply("floor", {at}) + apply("ceil", {at}));
        }
        case Rule::lower: return apply("floor", {less_one * q});
        case Rule::higher: return apply("ceil", {less_one * q});
        case Rule::nearest: return round(less_one * q);
        case Rule::inverted: {
            const Tensor at = count * q - 1;
            return whole(at, apply("equal", {at - apply("floor", {at}), 0}));
        }
        case Rule::closest: {
            const Tensor at = count * q - 1 - 0.5;
            const Tensor below = apply("floor", {at});
            return whole(at, apply("logical_and", {apply("equal", {at - below, 0}),
                                                   apply("equal", {below % 2, 1})}));
        }
    }
    return {};
}

// How far a position is from the value before it, by the method.
Tensor share_of(const Method& method, const Tensor& position, const Tensor& before) {
    const Tensor share = position - before;
    const auto chosen = [](const Tensor& condition, double yes, double no) {
        return apply("where", {condition, scalar(DType::float64, yes), scalar(DType::float64, no)});
    };
    if (method.rule == Rule::averaged) return chosen(apply("equal", {share, 0}), 0.5, 1);
    if (method.rule == Rule::midpoint) return chosen(apply("equal", {position % 1, 0}), 0, 0.5);
    return share;
}

// a + (b - a) t; from b where t is nearer to 1, so that t = 1 gives b.
Tensor between(const Tensor& a, const Tensor& b, const Tensor& share, bool is_weak) {
    const Tensor difference = b - a;
    Tensor t = share, rest = 1 - share;
    if (is_weak) {  // a Python number: it takes the dtype of the values
        const DType dtype = result_type({a, Operand(1.0)});
        t = ops::astype(t, dtype), rest = ops::astype(rest, dtype);
    }
    return apply("where",
                 {apply("greater_equal", {share, 0.5}), b - difference * rest, a + difference * t});
}

struct Request {
    std::string_view function;
    Method method;
    bool is_weak;    // q is a Python number
    bool skips_nan;  // which are there, perhaps
};

// Elements of rows (count, length) at positions (shares) or (shares, count) -> (shares, count).
Tensor picked(const Tensor& rows, const Tensor& positions) {
    const Tensor at = ops::astype(positions, DType::int64);
    Tensor found = at.rank() == 1
                       ? ops::gather(rows, {at}, {1})
                       : ops::gather(rows, {ops::iota({rows.shape()[0]}, 0), at}, {0, 1});
    found.node().set_checked();  // shares of the length lie within it
    return found;
}

// What is not NaN in each row of x, which is sorted.
Tensor numbers_in(const Tensor& rows) {
    return sum(apply("logical_not", {apply("isnan", {rows})}), 1);
}

Tensor last_of(const Tensor& rows) { return ops::part(rows, 1, rows.shape()[1] - 1, 1); }

// NaN for rows that hold one; if those are passed over, a remark on rows that hold nothing else.
Tensor marked(const Request& request, const Tensor& sorted, const Tensor& result) {
    if (!ir::is_inexact(sorted.dtype())) return result;
    if (request.skips_nan) {
        const Tensor is_missing = apply("isnan", {ravel(ops::part(sorted, 1, 0, 1))});
        return ir::is_floating(result.dtype()) ? apply("remark_all_nan", {result, is_missing})
                                               : result;
    }
    const Tensor last = ravel(last_of(sorted));
    return apply("where", {apply("isnan", {last}), last, result});
}

// rows (count, length), q (shares) -> (shares, count)
Tensor unweighted(const Request& request, const Tensor& rows, const Tensor& q) {
    const Tensor sorted = sort(rows, 1);
    const int64_t length = rows.shape()[1];
    Tensor count = Operand(length), most = Operand(length - 1);
    Tensor shares = q;
    if (request.skips_nan) {
        count = numbers_in(sorted);
        most = apply("maximum", {count - 1, 0});
        if (q.dtype() != DType::boolean) count = ops::astype(count, q.dtype());
        shares = expand_dims(q, 1);
    }
    const Tensor position = position_of(request.method, count, shares);
    const bool is_whole = request.method.picks ||
                          (request.method.rule == Rule::linear && ir::is_integer(position.dtype()));
    if (is_whole)
        return marked(request, sorted,
                      picked(sorted, apply("maximum", {apply("minimum", {position, most}), 0})));
    // NumPy's -1 for "the last" is what the share is counted from.
    const Tensor is_above = apply("greater_equal", {position, combined("subtract", count, 1)});
    const Tensor is_below = apply("less", {position, 0});
    const Tensor below = apply("floor", {position});
    const Tensor zero = scalar(position.dtype(), 0);
    const auto bounded = [&](const Tensor& inside, const Tensor& end) {
        return apply("where", {is_below, zero, apply("where", {is_above, end, inside})});
    };
    const Tensor last = ops::astype(strong(most), position.dtype());
    const Tensor a = picked(sorted, bounded(below, last));
    const Tensor b = picked(sorted, bounded(below + 1, last));
    Tensor share = share_of(request.method, position, bounded(below, scalar(position.dtype(), -1)));
    share = ops::astype(share, position.dtype());
    if (share.rank() == 1) share = expand_dims(share, 1);
    return marked(request, sorted, between(a, b, share, request.is_weak));
}

// The same with weights like rows: the first value up to which the share of the weights is q.
Tensor weighted(const Request& request, const Tensor& rows, const Tensor& q,
                const Tensor& weights) {
    const Tensor order = argsort(rows, 1);
    const Tensor sorted = take_along_axis(rows, order, 1);
    Tensor w = ops::astype(take_along_axis(weights, order, 1), DType::float64);
    Tensor most = Operand(rows.shape()[1] - 1);
    if (request.skips_nan) {
        w = apply("where", {apply("isnan", {sorted}), scalar(DType::float64, 0), w});
        most = apply("maximum", {numbers_in(sorted) - 1, 0});
    }
    Tensor total = cumsum(w, 1);
    total = total / last_of(total);
    if (ir::is_floating(q.dtype())) total = ops::astype(total, q.dtype());
    // Values without weight at the front are not the quantile of 0.
    total = apply("where", {apply("equal", {total, 0}), scalar(total.dtype(), -1), total});
    const Tensor shares = reshape(q, {q.size(), 1, 1});
    const Tensor position = sum(apply("less", {total, shares}), 2);
    return marked(request, sorted, picked(sorted, apply("minimum", {position, most})));
}

// Weights that broadcast to x.
Tensor aligned_weights(std::string_view function, const Tensor& x, const Axis& axis,
                       const Tensor& weights) {
    if (weights.shape() == x.shape()) return strong(weights);
    user_check<TypeError>(!axis.is_none(), function, ": Axis must be specified when shapes of a ",
                          x.shape(), " and weights ", weights.shape(), " differ.");
    const std::vector<int64_t> axes = axis.of(function, x.rank());
    Shape required, aligned(x.shape().size(), 1);
    for (int64_t d : axes) {
        required.push_back(x.shape()[static_cast<size_t>(d)]);
        aligned[static_cast<size_t>(d)] = required.back();
    }
    user_check(weights.shape() == required, function, ": Shape of weights ", weights.shape(),
               " must be consistent with shape of a along specified axis: ", required, ".");
    std::vector<int64_t> order(axes.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
        return axes[static_cast<size_t>(i)] < axes[static_cast<size_t>(j)];
    });
    return reshape(transpose(strong(weights), order), aligned);
}

void check_shares(std::string_view function, const Tensor& q, bool is_percentage) {
    user_check<TypeError>(!ir::is_complex(q.dtype()), function, ": q has dtype ", q.dtype(),
                          ". A real dtype is required.");
    user_check(q.rank() <= 2, function, ": q must be a scalar or 1d, not of shape ", q.shape(),
               ".");
    bool is_valid = true;
    if (const std::optional<double> value = literal(q))
        is_valid = *value >= 0 && *value <= 1;
    else if (q.size() == 0)
        is_valid = q.rank() == 1;
    else
        is_valid = !is_violated(all(
            apply("logical_and", {apply("greater_equal", {q, 0}), apply("less_equal", {q, 1})})));
    user_check(is_valid, function,
               is_percentage ? ": Percentiles must be in the range [0, 100]."
                             : ": Quantiles must be in the range [0, 1].");
}

void check_weights(std::string_view function, const Tensor& rows, const Tensor& weights,
                   bool skips_nan) {
    user_check(!is_violated(apply("logical_not", {any(apply("less", {weights, 0}))})), function,
               ": Weights must be non-negative.");
    Tensor w = ops::astype(weights, DType::float64);
    Tensor nothing = zeros({rows.shape()[0]}, DType::boolean);
    if (skips_nan) {
        const Tensor nan = apply("isnan", {rows});
        w = apply("where", {nan, scalar(DType::float64, 0), w});
        nothing = all(nan, 1);
    }
    const Tensor total = sum(w, 1);
    const Tensor is_fine =
        apply("logical_and", {apply("greater", {total, 0}), apply("isfinite", {total})});
    user_check(!is_violated(all(apply("logical_or", {nothing, is_fine}))), function,
               ": Weights included NaN, inf or were all zero.");
}

struct Names {
    std::string_view function;
    bool is_percentage, skips_nan;
};

Tensor computed(const Names& names, const Tensor& x, const Operand& share, const Axis& axis,
                std::string_view method_name, bool keepdims, const Tensor& weights) {
    const auto [function, is_percentage, passes_over] = names;
    user_check<TypeError>(!ir::is_complex(x.dtype()), function,
                          ": a must be an array of real numbers, not ", x.dtype(), ".");
    const Tensor& given = share;
    const bool is_weak = given.type().weak && given.dtype() != DType::boolean;
    const Tensor q =
        is_percentage ? combined("divide", is_weak ? given : strong(given), 100) : given;
    check_shares(function, q, is_percentage);
    user_check(!weights || method_name == "inverted_cdf", function,
               ": Only method 'inverted_cdf' supports weights. Got: ", method_name, ".");
    const Tensor wide =
        weights ? broadcast_to(aligned_weights(function, x, axis, weights), x.shape()) : Tensor();
    if (passes_over && x.size() == 0)
        return errors_as(function, [&] { return nanmean(x, axis, {}, keepdims); });
    const Request request{function, method_of(function, method_name), is_weak,
                          passes_over && ir::is_inexact(x.dtype())};
    const std::vector<int64_t> axes = axis.of(function, x.rank());
    Tensors operands{strong(x), strong(q)};
    Shape rest, kept;
    {
        const MergedAxes merged = merge_axes(x, axes);
        user_check<IndexError>(merged.length > 0 || merged.rows.shape()[0] == 0, function,
                               ": index -1 is out of bounds for axis 0 with size 0: there is "
                               "nothing along the axes of shape ",
                               x.shape(), ".");
        rest = merged.rest, kept = merged.kept;
        if (wide) {
            const Tensor w = merge_axes(wide, axes).rows;
            check_weights(function, merged.rows, w, request.skips_nan);
            operands.push_back(strong(wide));
        }
    }
    Shape shape = q.shape();
    const Shape& behind = keepdims ? kept : rest;
    shape.insert(shape.end(), behind.begin(), behind.end());
    return one_node(function, operands, [&](const Tensors& of) {
        const Tensor rows = merge_axes(of[0], axes).rows, shares = ravel(of[1]);
        if (rows.size() == 0) {
            // Nothing along no axis: the dtype is that of one value.
            const Tensor one = zeros({1, 1}, rows.dtype());
            const DType dtype = unweighted(request, one, shares).dtype();
            return zeros(shape, of.size() > 2 ? rows.dtype() : dtype);
        }
        const Tensor result = of.size() > 2
                                  ? weighted(request, rows, shares, merge_axes(of[2], axes).rows)
                                  : unweighted(request, rows, shares);
        return reshape(result, shape);
    });
}

template <class... Arguments>
Tensor named(const Names& names, const Arguments&... arguments) {
    return errors_as(names.function, [&] { return computed(names, arguments...); });
}

}  // namespace

Tensor quantile(const Tensor& x, const Operand& q, const Axis& axis, std::string_view method,
                bool keepdims, const Tensor& weights) {
    return named({"quantile", false, false}, x, q, axis, method, keepdims, weights);
}

Tensor percentile(const Tensor& x, const Operand& q, const Axis& axis, std::string_view method,
                  bool keepdims, const Tensor& weights) {
    return named({"percentile", true, false}, x, q, axis, method, keepdims, weights);
}

Tensor nanquantile(const Tensor& x, const Operand& q, const Axis& axis, std::string_view method,
                   bool keepdims, const Tensor& weights) {
    return named({"nanquantile", false, true}, x, q, axis, method, keepdims, weights);
}

Tensor nanpercentile(const Tensor& x, const Operand& q, const Axis& axis, std::string_view method,
                     bool keepdims, const Tensor& weights) {
    return named({"nanpercentile", true, true}, x, q, axis, method, keepdims, weights);
}

Tensor nanmedian(const Tensor& x, const Axis& axis, bool keepdims) {
    if (x.size() == 0)
        return errors_as("nanmedian", [&] { return nanmean(x, axis, {}, keepdims); });
    if (!ir::is_inexact(x.dtype()))
        return errors_as("nanmedian", [&] { return median(x, axis, keepdims); });
    const std::vector<int64_t> axes = axis.of("nanmedian", x.rank());
    return one_node("nanmedian", {strong(x)}, [&](const Tensors& of) {
        const MergedAxes merged = merge_axes(of[0], axes);
        const Tensor sorted = sort(merged.rows, 1);
        const Tensor count = expand_dims(numbers_in(sorted), 0);
        const Tensor before = apply("floor_divide", {apply("maximum", {count - 1, 0}), 2});
        const Tensor a = picked(sorted, before);
        // Without a number there is NaN at 0, too.
        const Tensor b = picked(sorted, apply("floor_divide", {count, 2}));
        const Tensor is_odd = apply("equal", {count % 2, 1});
        const Tensor middle = apply("where", {is_odd, a, (a + b) / 2});
        const Tensor is_missing = apply("equal", {count, 0});
        const Tensor known = ir::is_floating(middle.dtype())
                                 ? apply("remark_all_nan", {middle, is_missing})
                                 : middle;
        return reshape(known, keepdims ? merged.kept : merged.rest);
    });
}

}  // namespace composit::numpy
