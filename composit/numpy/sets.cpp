// Sets from sorted elements: a value begins where one differs from its neighbour.
#include "composit/numpy/sets.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/scalar/values.h"
#include "composit/numpy/assembling.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/index_arrays.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/known_values.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace composit::numpy {
namespace {

// What is known of the operand: its value, which decides the shape of a result.
Tensor known(std::string_view function, std::string_view name, const Tensor& x) {
    return asarray(concrete(function, name, strong(x)));
}

Array array_of(const std::vector<int64_t>& places) {
    return Array::of<int64_t>(DType::int64, {static_cast<int64_t>(places.size())}, places);
}

// The elements of a 1-d x at some places.
Tensor chosen(const Tensor& x, const std::vector<int64_t>& places) {
    const Array at = array_of(places);
    return with_known_rows(ops::gather(x, {asarray(at)}, {0}), x, x.size(), at);
}

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

// What is compared here, and not by a plan.
bool has_plain_values(DType dtype) { return !ir::is_complex(dtype) && !ir::is_short_float(dtype); }

// function(T()) for the type of plain values.
template <class Function>
auto with_plain_type(DType dtype, const Function& function) -> decltype(function(0.0f)) {
    return ir::scalar::with_type(dtype, "sets", [&](auto value) -> decltype(function(0.0f)) {
        using T = decltype(value);
        if constexpr (ir::scalar::is_short<T>)
            return {};
        else
            return function(value);
    });
}

// Of plain values, of which everything is known: counted here, without a graph but for their order.
// Where the values alone are wanted, they are not looked for among the operand's.
Unique counted(const Tensor& given, const Wanted& wanted, bool equal_nan) {
    const Array values = concrete("unique", "x", given);  // once: the node keeps them
    const Tensor x = ravel(given);
    const int64_t n = x.size();
    const bool needs_order = wanted.indices || wanted.inverse;
    const Tensor in_order = needs_order ? ops::argsort(x, 0) : ops::sort(x, 0);
    const Array found = concrete("unique", "x", in_order);
    const Array sorted = needs_order ? elements_at(values, found) : found;
    const std::vector<int64_t> starts = with_plain_type(
        sorted.dtype(), [&]<class T>(T) { return starts_of<T>(sorted, equal_nan); });
    const auto count = static_cast<int64_t>(starts.size());
    Unique result;
    Array counts(DType::int64, {count});
    auto* length = static_cast<int64_t*>(counts.mutable_data());
    for (int64_t k = 0; k < count; ++k) {
        const auto at = static_cast<size_t>(k);
        length[k] = (k + 1 < count ? starts[at + 1] : n) - starts[at];
    }
    if (needs_order) {
        const auto* const places = found.data_as<int64_t>();
        std::vector<int64_t> first;
        for (const int64_t start : starts) first.push_back(places[start]);
        if (wanted.inverse) {
            Array inverse(DType::int64, {n});
            auto* number = static_cast<int64_t*>(inverse.mutable_data());
            for (int64_t k = 0, i = 0; k < count; ++k)
                for (const int64_t end = i + length[k]; i < end; ++i) number[places[i]] = k;
            result.inverse = asarray(std::move(inverse));
        }
        result.indices = array(first);
        result.values = ops::gather(x, {result.indices}, {0});
    } else {
        const bool has_gradient = ir::is_inexact(given.dtype());
        result.values =
            ops::gather(has_gradient ? in_order : asarray(sorted), {array(starts)}, {0});
    }
    if (n <= most_known_elements)
        with_known_value(result.values, elements_at(sorted, array_of(starts)));
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

// Which places put the values in order, n of which begin anew at `split`: two runs that ascend are
// merged.
template <class T>
std::vector<int64_t> places_in_order(const Array& values, int64_t split) {
    const T* const value = values.data_as<T>();
    const auto is_before = [](T a, T b) { return a < b || (b != b && a == a); };  // NaN is last
    const bool ascend = std::is_sorted(value, value + split, is_before) &&
                        std::is_sorted(value + split, value + values.size(), is_before);
    std::vector<int64_t> places(static_cast<size_t>(values.size()));
    if (ascend) {
        for (int64_t i = 0, j = split, n = values.size(), k = 0; k < n; ++k) {
            const bool is_second = i == split || (j < n && is_before(value[j], value[i]));
            places[static_cast<size_t>(k)] = is_second ? j++ : i++;
        }
        return places;
    }
    const Array order = concrete("sets", "x", ops::argsort(asarray(values), 0));
    std::copy_n(order.data_as<int64_t>(), order.size(), places.begin());
    return places;
}

// Values in order, equal ones as they come.
struct InOrder {
    std::vector<int64_t> places;  // where the first stands, the second, …
    std::vector<bool> repeats;    // whether one is equal to the next, which NaN never is
};

InOrder in_order(const Array& values, int64_t split) {
    return with_plain_type(values.dtype(), [&]<class T>(T) {
        InOrder found{places_in_order<T>(values, split), {}};
        found.repeats.assign(found.places.size(), false);
        const T* const value = values.data_as<T>();
        for (size_t i = 1; i < found.places.size(); ++i)
            found.repeats[i - 1] = value[found.places[i - 1]] == value[found.places[i]];
        return found;
    });
}

// a's elements, then b's, of one dtype.
Array together(std::string_view function, const Tensor& a, const Tensor& b) {
    const Array first = concrete(function, "ar1", a), second = concrete(function, "ar2", b);
    Array values(a.dtype(), {a.size() + b.size()});
    auto* const to = static_cast<char*>(values.mutable_data());
    if (first.size() > 0) std::memcpy(to, first.data(), static_cast<size_t>(first.bytes()));
    if (second.size() > 0)
        std::memcpy(to + first.bytes(), second.data(), static_cast<size_t>(second.bytes()));
    return values;
}

// The elements of two 1-d tensors, all of which are a's, then b's.
InOrder joined(std::string_view function, const Tensor& all, const Tensor& a, const Tensor& b) {
    const DType dtype = all.dtype();
    if (has_plain_values(dtype)) {
        if (a.dtype() != dtype || b.dtype() != dtype)
            return in_order(concrete(function, "ar1 and ar2", all), a.size());
        const Array values = together(function, a, b);
        if (values.size() <= most_known_elements) with_known_value(all, values);
        return in_order(values, a.size());
    }
    const Tensor values = known(function, "ar1 and ar2", all);
    const Array order = concrete(function, "ar1 and ar2", argsort(values));
    const Tensor in_turn = take(values, asarray(order), 0);
    const Array differ = concrete(function, "ar1 and ar2", differs(in_turn, false));
    InOrder found;
    found.places.assign(order.data_as<int64_t>(), order.data_as<int64_t>() + order.size());
    found.repeats.assign(found.places.size(), false);
    for (int64_t i = 0; i < differ.size(); ++i)
        found.repeats[static_cast<size_t>(i)] = !differ.data_as<bool>()[i];
    return found;
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
        if (is_flat) {
            Unique result;
            if (has_plain_values(given.dtype())) {
                result = counted(given, wanted, equal_nan);
            } else {
                result = parted(ravel(known("unique", "x", given)), equal_nan);
                result.values = take(ravel(given), result.indices, 0);
            }
            if (!axis && result.inverse) result.inverse = reshape(result.inverse, given.shape());
            return result;
        }
        const Tensor moved = moveaxis(known("unique", "x", given), at, 0);
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
        const Tensor all = concatenate({x, y});
        const InOrder both = joined("intersect1d", all, x, y);
        std::vector<int64_t> in_a, in_b;
        for (size_t i = 0; i < both.places.size(); ++i) {
            if (!both.repeats[i]) continue;
            in_a.push_back(both.places[i]);
            in_b.push_back(both.places[i + 1] - x.size());
        }
        const Tensor found = chosen(all, in_a);
        if (!needs_indices) return {found, {}, {}};
        return {found, first_a ? chosen(first_a, in_a) : array(in_a),
                first_b ? chosen(first_b, in_b) : array(in_b)};
    });
}

Tensor setxor1d(const Tensor& a, const Tensor& b, bool is_unique) {
    return errors_as("setxor1d", [&] {
        const Pair of = flattened(a, b, is_unique);
        const Tensor all = concatenate({of.a, of.b});
        if (all.size() == 0) return all;
        const InOrder both = joined("setxor1d", all, of.a, of.b);
        std::vector<int64_t> single;
        for (size_t i = 0; i < both.places.size(); ++i)
            if (!both.repeats[i] && (i == 0 || !both.repeats[i - 1]))
                single.push_back(both.places[i]);
        return chosen(all, single);
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
        std::vector<int64_t> left;
        if (!is_unique && of.a.dtype() == of.b.dtype() && has_plain_values(of.a.dtype())) {
            const InOrder both = in_order(together("setdiff1d", of.a, of.b), of.a.size());
            for (size_t i = 0; i < both.places.size(); ++i)
                if (!both.repeats[i] && both.places[i] < of.a.size())
                    left.push_back(both.places[i]);
            return chosen(of.a, left);
        }
        const Tensor values = known("setdiff1d", "ar1", of.a);
        const Array is_left = concrete("setdiff1d", "ar2",
                                       isin(values, known("setdiff1d", "ar2", of.b), true, false));
        for (int64_t i = 0; i < is_left.size(); ++i)
            if (is_left.data_as<bool>()[i]) left.push_back(i);
        return chosen(of.a, left);
    });
}

}  // namespace composit::numpy
