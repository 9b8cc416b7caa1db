// Sets from sorted elements: a value begins where one differs from its neighbour.
#include "composit/numpy/sets.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/assembling.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/index_arrays.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/ordered_keys.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>

namespace composit::numpy {
namespace {

// What is known of the operand: its value, which decides the shape of a result.
Tensor known(std::string_view function, std::string_view name, const Tensor& x) {
    return asarray(concrete(function, name, strong(x)));
}

// The elements of a 1-d x where a mask is true, which is evaluated now.
Tensor chosen(const Tensor& x, const Tensor& mask) { return take(x, flatnonzero(mask), 0); }

// Whether each element but the first differs from the one before it; x is 1-d, or rows.
Tensor differs(const Tensor& x, bool equal_nan) {
    const int64_t n = std::max<int64_t>(x.shape()[0] - 1, 0);
    const Tensor after = ops::part(x, 0, x.shape()[0] - n, n), before = ops::part(x, 0, 0, n);
    Tensor result = apply("not_equal", {after, before});
    if (equal_nan && ir::is_inexact(x.dtype()))
        result = apply("logical_and", {result, apply("logical_not", {apply("isnan", {before})})});
    return x.rank() == 1 ? result : any(result, 1);
}

// The order of the values, or of the rows by their first column, then by the second, …
Tensor order_of(const Tensor& x) {
    if (x.rank() == 1) return argsort(x);
    const std::vector<Tensor> keys = unstack(x, 1);
    return keys.empty() ? arange(x.shape()[0]) : lexsort({keys.rbegin(), keys.rend()});
}

// Of real values, of which everything is known: counted here, without a graph.
Unique counted(const Array& values, bool equal_nan) {
    const auto [keys, places, not_a_number] = ordered_keys(values);
    const auto n = static_cast<int64_t>(keys.size());
    std::vector<int64_t> firsts, counts;
    Array inverse(DType::int64, {n});
    auto* number = static_cast<int64_t*>(inverse.mutable_data());
    for (size_t i = 0; i < keys.size(); ++i) {
        const bool is_alone = !equal_nan && not_a_number != 0 && keys[i] == not_a_number;
        if (i == 0 || keys[i] != keys[i - 1] || is_alone) {
            firsts.push_back(places[i]);
            counts.push_back(0);
        }
        ++counts.back();
        number[places[i]] = static_cast<int64_t>(counts.size()) - 1;
    }
    Unique result;
    result.indices = array(firsts);
    result.inverse = asarray(std::move(inverse));
    result.counts = array(counts);
    return result;
}

// Of values or rows.
Unique parted(const Tensor& x, bool equal_nan) {
    const int64_t n = x.shape()[0];
    const Tensor order = order_of(x);
    const Tensor sorted = take(x, order, 0);
    Tensor starts = ones({n > 0 ? 1 : 0}, DType::boolean);
    if (n > 1) starts = ops::concatenate({starts, differs(sorted, equal_nan)}, 0);
    const Tensor first = flatnonzero(starts);
    const Tensor number = cumsum(starts) - 1;
    Unique result;
    result.indices = asarray(concrete("unique", "x", take(order, first, 0)));
    result.inverse = ops::scatter(zeros({n}, DType::int64), {order}, {0}, number, false);
    result.counts = diff(first, 1, -1, {}, array<int64_t>({n}));
    return result;
}

// Both flattened, in their result_type, and free of repetitions.
struct Pair {
    Tensor a, b;
};
Pair flattened(const Tensor& a, const Tensor& b, bool is_unique) {
    const auto prepared = [&](const Tensor& x) {
        return is_unique ? ravel(strong(x)) : unique(x).values;
    };
    return {prepared(a), prepared(b)};
}

void check_table(const Tensor& x, const Tensor& tested) {
    for (const Tensor& operand : {x, tested})
        user_check(operand.dtype() == DType::boolean || ir::is_integer(operand.dtype()),
                   "isin: The 'table' method is only supported for boolean or integer arrays, not "
                   "for ",
                   operand.dtype(), ". Please select 'sort' or None for kind.");
    if (tested.size() == 0 || !ir::is_signed_integer(tested.dtype())) return;
    // A span that the dtype holds is no negative number in it.
    const Tensor span = max(tested) - min(tested);
    user_check<RuntimeError>(!is_violated(apply("greater_equal", {span, 0})),
                             "isin: You have specified kind='table', but the range of values in "
                             "`ar2` or `ar1` exceed the maximum integer of the datatype, ",
                             tested.dtype(), ". Please set `kind` to None or 'sort'.");
}

}  // namespace

Unique unique(const Tensor& x, std::optional<int64_t> axis, bool equal_nan) {
    const Tensor given = strong(x);
    const bool is_flat = !axis || given.rank() == 1;
    const int64_t at = axis ? normalize_axis("unique", *axis, given.rank()) : 0;
    return errors_as("unique", [&] {
        const Tensor values = known("unique", "x", given);
        if (is_flat) {
            const bool is_ordered = !ir::is_complex(given.dtype()) && !ir::is_half(given.dtype());
            Unique result = is_ordered ? counted(ir::constant_value(values.node()), equal_nan)
                                       : parted(ravel(values), equal_nan);
            result.values = take(ravel(given), result.indices, 0);
            if (!axis) result.inverse = reshape(result.inverse, given.shape());
            return result;
        }
        const Tensor moved = moveaxis(values, at, 0);
        const int64_t n = moved.shape()[0];
        int64_t width = 1;
        for (size_t d = 1; d < moved.shape().size(); ++d) width *= moved.shape()[d];
        Unique result = parted(reshape(moved, {n, width}), false);
        result.values = take(given, result.indices, at);
        return result;
    });
}

Tensor union1d(const Tensor& a, const Tensor& b) {
    return errors_as("union1d", [&] { return unique(concatenate({a, b}, std::nullopt)).values; });
}

Intersection intersect1d(const Tensor& a, const Tensor& b, bool is_unique) {
    return errors_as("intersect1d", [&]() -> Intersection {
        Tensor first_a, first_b, x = ravel(strong(a)), y = ravel(strong(b));
        if (!is_unique) {
            const Unique of_a = unique(x), of_b = unique(y);
            x = of_a.values, y = of_b.values;
            first_a = of_a.indices, first_b = of_b.indices;
        }
        const Tensor all_of_them = concatenate({x, y});
        const Tensor values = known("intersect1d", "ar1 and ar2", all_of_them);
        const Tensor order = argsort(values);
        const Tensor sorted = take(values, order, 0);
        const int64_t n = std::max<int64_t>(sorted.size() - 1, 0), skipped = sorted.size() - n;
        const Tensor mask =
            apply("equal", {ops::part(sorted, 0, skipped, n), ops::part(sorted, 0, 0, n)});
        const Tensor in_a = chosen(ops::part(order, 0, 0, n), mask);
        const Tensor in_b = chosen(ops::part(order, 0, skipped, n), mask) - x.size();
        return {take(all_of_them, in_a, 0), first_a ? take(first_a, in_a, 0) : in_a,
                first_b ? take(first_b, in_b, 0) : in_b};
    });
}

Tensor setxor1d(const Tensor& a, const Tensor& b, bool is_unique) {
    return errors_as("setxor1d", [&] {
        const Pair of = flattened(a, b, is_unique);
        const Tensor all_of_them = concatenate({of.a, of.b});
        if (all_of_them.size() == 0) return all_of_them;
        const Tensor values = known("setxor1d", "ar1 and ar2", all_of_them);
        const Tensor order = argsort(values);
        const Tensor changes = differs(take(values, order, 0), false);
        const Tensor edge = ones({1}, DType::boolean);
        const Tensor is_single = apply("logical_and", {ops::concatenate({edge, changes}, 0),
                                                       ops::concatenate({changes, edge}, 0)});
        return take(all_of_them, chosen(order, is_single), 0);
    });
}

Tensor isin(const Tensor& x, const Tensor& tested, bool invert, bool by_table) {
    return errors_as("isin", [&] {
        if (by_table) check_table(x, tested);
        const DType dtype = result_type({strong(x), strong(tested)});
        const Tensor wanted = ops::astype(strong(x), dtype);
        Tensor found = zeros(x.shape(), DType::boolean);
        if (tested.size() > 0) {
            const Tensor sorted = sort(ops::astype(tested, dtype), std::nullopt);
            const Tensor at = apply("minimum", {searchsorted(sorted, wanted), tested.size() - 1});
            found = apply("equal", {ops::gather(sorted, {at}, {0}), wanted});
        }
        return invert ? apply("logical_not", {found}) : found;
    });
}

Tensor setdiff1d(const Tensor& a, const Tensor& b, bool is_unique) {
    return errors_as("setdiff1d", [&] {
        const Pair of = flattened(a, b, is_unique);
        const Tensor values = known("setdiff1d", "ar1", of.a);
        return chosen(of.a, isin(values, known("setdiff1d", "ar2", of.b), true));
    });
}

}  // namespace composit::numpy
