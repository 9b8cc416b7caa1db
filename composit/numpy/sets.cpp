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

// Where values in order begin to differ.
template <class T>
std::vector<int64_t> starts_of(const Array& sorted, bool equal_nan) {
    const T* values = sorted.data_as<T>();
    const int64_t n = sorted.size();
    std::vector<int64_t> starts;
    for (int64_t i = 0; i < n; ++i) {
        const bool are_equal = i > 0 && values[i] == values[i - 1];
        const bool are_nan =
            i > 0 && equal_nan && values[i] != values[i] && values[i - 1] != values[i - 1];
        if (!are_equal && !are_nan) starts.push_back(i);
    }
    return starts;
}

std::vector<int64_t> starts_of(const Array& sorted, bool equal_nan) {
    switch (sorted.dtype()) {
        case DType::boolean: return starts_of<bool>(sorted, equal_nan);
        case DType::int8: return starts_of<int8_t>(sorted, equal_nan);
        case DType::int16: return starts_of<int16_t>(sorted, equal_nan);
        case DType::int32: return starts_of<int32_t>(sorted, equal_nan);
        case DType::int64: return starts_of<int64_t>(sorted, equal_nan);
        case DType::uint8: return starts_of<uint8_t>(sorted, equal_nan);
        case DType::uint16: return starts_of<uint16_t>(sorted, equal_nan);
        case DType::uint32: return starts_of<uint32_t>(sorted, equal_nan);
        case DType::uint64: return starts_of<uint64_t>(sorted, equal_nan);
        case DType::float32: return starts_of<float>(sorted, equal_nan);
        case DType::float64: return starts_of<double>(sorted, equal_nan);
        default: break;
    }
    internal_check(false, "unique: ", sorted.dtype());
    return {};
}

// Of real values, of which everything is known: counted here, without a graph but for their order.
// Where the values alone are wanted, they are not looked for among the operand's.
Unique counted(const Tensor& given, const Tensor& known_values, const Wanted& wanted,
               bool equal_nan) {
    const Tensor x = ravel(known_values);
    const Array sorted = concrete("unique", "x", ops::sort(x, 0));
    const int64_t n = sorted.size();
    const std::vector<int64_t> starts = starts_of(sorted, equal_nan);
    const auto count = static_cast<int64_t>(starts.size());
    Unique result;
    Array counts(DType::int64, {count});
    auto* length = static_cast<int64_t*>(counts.mutable_data());
    for (int64_t k = 0; k < count; ++k) {
        const auto at = static_cast<size_t>(k);
        length[k] = (k + 1 < count ? starts[at + 1] : n) - starts[at];
    }
    if (wanted.indices || wanted.inverse) {
        const Array order = concrete("unique", "x", ops::argsort(x, 0));
        const auto* places = order.data_as<int64_t>();
        Array indices(DType::int64, {count});
        auto* index = static_cast<int64_t*>(indices.mutable_data());
        for (int64_t k = 0; k < count; ++k) index[k] = places[starts[static_cast<size_t>(k)]];
        if (wanted.inverse) {
            Array inverse(DType::int64, {n});
            auto* number = static_cast<int64_t*>(inverse.mutable_data());
            for (int64_t k = 0, i = 0; k < count; ++k)
                for (const int64_t end = i + length[k]; i < end; ++i) number[places[i]] = k;
            result.inverse = asarray(std::move(inverse));
        }
        result.indices = asarray(std::move(indices));
        result.values = take(ravel(given), result.indices, 0);
    } else {
        const bool has_gradient = ir::is_inexact(given.dtype());
        result.values = ops::gather(has_gradient ? ops::sort(ravel(given), 0) : asarray(sorted),
                                    {array(starts)}, {0});
    }
    result.counts = asarray(std::move(counts));
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
        return is_unique ? ravel(strong(x)) : unique(x, {}, true, {false, false}).values;
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

// Whether each of the values is among others, which are in order and not nothing.
Tensor found_in(const Tensor& sorted, const Tensor& values) {
    const Tensor at = apply("minimum", {searchsorted(sorted, values), sorted.size() - 1});
    return apply("equal", {ops::gather(sorted, {at}, {0}), values});
}

// Of integers from `least` on: whether each is there. The last entry is that of all others.
struct Table {
    int64_t least, count;
    Tensor entries;
};

bool has_int64_values(const Tensor& x) {
    const DType dtype = x.dtype();
    return dtype == DType::boolean || (ir::is_integer(dtype) && dtype != DType::uint64);
}

// Nothing where the integers are not known yet, or so far apart that sorting them is quicker.
std::optional<Table> table_of(const Tensor& x, const Tensor& tested) {
    const Tensor given = strong(tested);
    if (!has_int64_values(strong(x)) || !has_int64_values(given) || given.size() == 0) return {};
    if (!ir::is_constant(given.node())) return {};
    const Array values = concrete("isin", "test_elements", ops::astype(given, DType::int64));
    const auto* value = values.data_as<int64_t>();
    const auto [least, most] = std::minmax_element(value, value + values.size());
    const uint64_t span = static_cast<uint64_t>(*most) - static_cast<uint64_t>(*least);
    if (span / 8 > static_cast<uint64_t>(values.size()) + static_cast<uint64_t>(x.size()))
        return {};
    const auto count = static_cast<int64_t>(span) + 1;
    Array entries = Array::zeros(DType::boolean, {count + 1});
    auto* is_there = static_cast<bool*>(entries.mutable_data());
    for (int64_t i = 0; i < values.size(); ++i) is_there[value[i] - *least] = true;
    return Table{*least, count, asarray(std::move(entries))};
}

Tensor looked_up(const Table& table, const Tensor& x) {
    const Tensor value = ops::astype(strong(x), DType::int64);
    const Tensor is_inside =
        apply("logical_and", {apply("greater_equal", {value, table.least}),
                              apply("less_equal", {value, table.least + (table.count - 1)})});
    const Tensor at = apply("where", {is_inside, value - table.least, table.count});
    return ops::gather(table.entries, {at}, {0});
}

}  // namespace

Unique unique(const Tensor& x, std::optional<int64_t> axis, bool equal_nan, const Wanted& wanted) {
    const Tensor given = strong(x);
    const bool is_flat = !axis || given.rank() == 1;
    const int64_t at = axis ? normalize_axis("unique", *axis, given.rank()) : 0;
    return errors_as("unique", [&] {
        const Tensor values = known("unique", "x", given);
        if (is_flat) {
            const bool is_ordered =
                !ir::is_complex(given.dtype()) && !ir::is_short_float(given.dtype());
            Unique result;
            if (is_ordered) {
                result = counted(given, values, wanted, equal_nan);
            } else {
                result = parted(ravel(values), equal_nan);
                result.values = take(ravel(given), result.indices, 0);
            }
            if (!axis && result.inverse) result.inverse = reshape(result.inverse, given.shape());
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
    return errors_as("union1d", [&] {
        return unique(concatenate({a, b}, std::nullopt), {}, true, {false, false}).values;
    });
}

Intersection intersect1d(const Tensor& a, const Tensor& b, bool is_unique, bool needs_indices) {
    return errors_as("intersect1d", [&]() -> Intersection {
        Tensor first_a, first_b, x = ravel(strong(a)), y = ravel(strong(b));
        if (!is_unique) {
            const Wanted wanted{needs_indices, false};
            const Unique of_a = unique(x, {}, true, wanted), of_b = unique(y, {}, true, wanted);
            x = of_a.values, y = of_b.values;
            first_a = of_a.indices, first_b = of_b.indices;
        }
        const Tensor all_of_them = concatenate({x, y});
        const Tensor values = known("intersect1d", "ar1 and ar2", all_of_them);
        const Tensor order = known("intersect1d", "ar1 and ar2", argsort(values));
        const Tensor sorted = take(values, order, 0);
        const int64_t n = std::max<int64_t>(sorted.size() - 1, 0), skipped = sorted.size() - n;
        const Tensor places = flatnonzero(
            apply("equal", {ops::part(sorted, 0, skipped, n), ops::part(sorted, 0, 0, n)}));
        const Tensor in_a = take(ops::part(order, 0, 0, n), places, 0);
        const Tensor in_b = take(ops::part(order, 0, skipped, n), places, 0) - x.size();
        const Tensor found = take(all_of_them, in_a, 0);
        if (!needs_indices) return {found, {}, {}};
        return {found, first_a ? take(first_a, in_a, 0) : in_a,
                first_b ? take(first_b, in_b, 0) : in_b};
    });
}

Tensor setxor1d(const Tensor& a, const Tensor& b, bool is_unique) {
    return errors_as("setxor1d", [&] {
        const Pair of = flattened(a, b, is_unique);
        const Tensor all_of_them = concatenate({of.a, of.b});
        if (all_of_them.size() == 0) return all_of_them;
        const Tensor values = known("setxor1d", "ar1 and ar2", all_of_them);
        const Tensor order = known("setxor1d", "ar1 and ar2", argsort(values));
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
        if (const std::optional<Table> table = table_of(x, tested))
            found = looked_up(*table, x);
        else if (tested.size() > 0)
            found = found_in(sort(ops::astype(tested, dtype), std::nullopt), wanted);
        return invert ? apply("logical_not", {found}) : found;
    });
}

Tensor setdiff1d(const Tensor& a, const Tensor& b, bool is_unique) {
    return errors_as("setdiff1d", [&] {
        const Pair of = flattened(a, b, is_unique);
        const Tensor values = known("setdiff1d", "ar1", of.a);
        return chosen(of.a, isin(values, known("setdiff1d", "ar2", of.b), true, false));
    });
}

}  // namespace composit::numpy
