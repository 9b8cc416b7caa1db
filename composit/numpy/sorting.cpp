// Sorting and searching, over the primitive argsort.
#include "composit/numpy/sorting.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/merged_axes.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

namespace composit::numpy {
namespace {

Tensor as_integer(int64_t value) { return ir::weak_scalar(value); }

// x flattened where there is no axis; the axis then.
std::pair<Tensor, int64_t> along(std::string_view function, const Tensor& x,
                                 std::optional<int64_t> axis) {
    if (!axis) return {ravel(strong(x)), 0};
    return {strong(x), normalize_axis(function, *axis, x.rank())};
}

Tensor order(std::string_view function, const Tensor& x, int64_t axis) {
    return errors_as(function, [&] { return ops::argsort(x, axis); });
}

// Nothing is out of bounds where there is nothing to sort, as in NumPy.
void check_kth(const Tensor& x, int64_t axis, const std::vector<int64_t>& kth) {
    if (x.size() == 0) return;
    const int64_t length = x.shape()[static_cast<size_t>(axis)];
    for (int64_t k : kth)
        user_check(-length <= k && k < length, "kth(=", k < 0 ? k + length : k, ") out of bounds (",
                   length, ")");
}

// Whether complex x stands before y in a row in order: by real part, then by imaginary part; behind
// all numbers those with NaN as imaginary part, then with NaN as real part, then with both.
Tensor is_before(const Tensor& x, const Tensor& y) {
    const Tensor xr = apply("real", {x}), xi = apply("imag", {x});
    const Tensor yr = apply("real", {y}), yi = apply("imag", {y});
    const auto nan = [](const Tensor& part) { return apply("isnan", {part}); };
    const auto both = [](const Tensor& a, const Tensor& b) { return apply("logical_and", {a, b}); };
    const auto either = [](const Tensor& a, const Tensor& b) {
        return apply("logical_or", {a, b});
    };
    const Tensor number = apply("logical_not", {nan(xi)});
    const Tensor only_y_is_nan = both(nan(yi), number);
    const Tensor level = either(apply("equal", {xr, yr}), both(nan(xr), nan(yr)));
    const Tensor otherwise =
        apply("where", {level, either(apply("less", {xi, yi}), only_y_is_nan), nan(yr)});
    const Tensor unless_less = apply("where", {apply("less", {yr, xr}), only_y_is_nan, otherwise});
    return apply("where", {apply("less", {xr, yr}), either(number, nan(yi)), unless_less});
}

// Where complex values have their place in a row in order: as many halvings as the length has bits,
// for all values at once.
Tensor search_complex(const Tensor& in_order, const Tensor& wanted, Side side) {
    const int64_t length = in_order.size();
    Tensor low = zeros(wanted.shape(), ir::DType::int64), high = full(wanted.shape(), length);
    for (int64_t left = length; left > 0; left /= 2) {
        const Tensor middle = apply("floor_divide", {apply("add", {low, high}), as_integer(2)});
        // Once low is the length, nothing changes any more.
        const Tensor inside = apply("minimum", {middle, as_integer(length - 1)});
        const Tensor element = ops::gather(in_order, {inside}, {0});
        const Tensor is_behind = side == Side::left
                                     ? is_before(element, wanted)
                                     : apply("logical_not", {is_before(wanted, element)});
        const Tensor is_open = apply("less", {low, high});
        const Tensor goes_right = apply("logical_and", {is_open, is_behind});
        const Tensor goes_left = apply("greater", {is_open, is_behind});
        low = apply("where", {goes_right, apply("add", {middle, as_integer(1)}), low});
        high = apply("where", {goes_left, middle, high});
    }
    return low;
}

}  // namespace

Tensor argsort(const Tensor& x, std::optional<int64_t> axis) {
    const auto [values, at] = along("argsort", x.rank() == 0 ? ravel(x) : x, axis);
    return order("argsort", values, at);
}

Tensor sort(const Tensor& x, std::optional<int64_t> axis) {
    const auto [values, at] = along("sort", x, axis);
    return errors_as("sort", [&] { return ops::sort(values, at); });
}

Tensor sort_complex(const Tensor& x) {
    return errors_as("sort_complex", [&] {
        const Tensor values = strong(x);
        if (ir::is_complex(values.dtype())) return sort(values);
        const bool is_narrow = ir::is_integer(values.dtype()) && ir::size_of(values.dtype()) <= 2;
        return ops::astype(sort(values), is_narrow ? DType::complex64 : DType::complex128);
    });
}

Tensor argpartition(const Tensor& x, const std::vector<int64_t>& kth, std::optional<int64_t> axis) {
    const auto [values, at] = along("argpartition", x.rank() == 0 ? ravel(x) : x, axis);
    check_kth(values, at, kth);
    return order("argpartition", values, at);
}

Tensor partition(const Tensor& x, const std::vector<int64_t>& kth, std::optional<int64_t> axis) {
    const auto [values, at] = along("partition", x, axis);
    check_kth(values, at, kth);
    return errors_as("partition", [&] { return ops::sort(values, at); });
}

Tensor lexsort(const std::vector<Tensor>& keys, int64_t axis) {
    user_check<TypeError>(!keys.empty(), "lexsort: need sequence of keys with len > 0 in lexsort");
    for (const Tensor& key : keys)
        user_check(key.shape() == keys[0].shape(), "lexsort: all keys need to be the same shape");
    if (keys[0].rank() == 0) return zeros({}, ir::DType::int64);
    const int64_t at = normalize_axis("lexsort", axis, keys[0].rank());
    Tensor found = order("lexsort", strong(keys[0]), at);
    for (size_t k = 1; k < keys.size(); ++k) {
        const Tensor key = take_along_axis(strong(keys[k]), found, at);
        found = take_along_axis(found, order("lexsort", key, at), at);
    }
    return found;
}

Tensor searchsorted(const Tensor& sorted, const Tensor& values, Side side, const Tensor& sorter) {
    user_check(sorted.rank() == 1, "searchsorted: object too deep for desired array: shape ",
               sorted.shape(), ". One dimension is required.");
    const ir::DType dtype = ir::promote(sorted.dtype(), values.dtype());
    Tensor in_order = ops::astype(strong(sorted), dtype);
    if (sorter) {
        user_check<TypeError>(ir::is_integer(sorter.dtype()),
                              "searchsorted: sorter must only contain integers, not ",
                              sorter.dtype(), ".");
        user_check(sorter.shape() == sorted.shape(), "searchsorted: sorter.size must equal ",
                   sorted.size(), ", not ", sorter.size(), ".");
        in_order = take_along_axis(in_order, sorter, 0);
    }
    const Tensor wanted = ops::astype(strong(values), dtype);
    if (sorted.size() == 0) return zeros(values.shape(), ir::DType::int64);
    if (ir::is_complex(dtype)) return search_complex(in_order, wanted, side);
    return errors_as("searchsorted",
                     [&] { return ops::search(in_order, wanted, side == Side::right); });
}

Tensor median(const Tensor& x, const Axis& axis, bool keepdims) {
    const DType dtype = ir::is_inexact(x.dtype()) ? x.dtype() : ir::DType::float64;
    const auto [rows, rest, kept, length] =
        merge_axes(ops::astype(strong(x), dtype), axis.of("median", x.rank()));
    const Shape& shape = keepdims ? kept : rest;
    if (length == 0) return reshape(mean(rows, -1), shape);
    const Tensor sorted = sort(rows, -1);
    const auto part = [&sorted](int64_t first, int64_t count) {
        return get_item(sorted, {Ellipsis{}, Slice{first, first + count, {}}});
    };
    const Tensor middle = mean(part((length - 1) / 2, length % 2 == 0 ? 2 : 1), -1);
    const Tensor last = get_item(sorted, {Ellipsis{}, length - 1});
    return reshape(apply("where", {apply("isnan", {last}), last, middle}), shape);
}

}  // namespace composit::numpy
