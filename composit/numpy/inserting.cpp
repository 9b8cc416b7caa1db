// insert and delete: the positions are known, so the result is elements taken in another order.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/selecting.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numeric>

namespace composit::numpy {
namespace {

// x, flattened without an axis; then the axis and its length.
struct Along {
    Tensor x;
    int64_t axis, length;
};

Along along(std::string_view function, const Tensor& x, std::optional<int64_t> axis) {
    const Tensor source = axis ? x : ravel(x);
    const int64_t d = axis ? normalize_axis(function, *axis, x.rank()) : 0;
    return {strong(source), d, source.shape()[static_cast<size_t>(d)]};
}

std::vector<int64_t> of_slice(const Slice& slice, int64_t length) {
    // The elements of a range of positions that the slice picks.
    const Tensor range = get_item(arange(length), {slice});
    const Array values = concrete("slice", "the slice", range);
    return {values.data_as<int64_t>(), values.data_as<int64_t>() + values.size()};
}

// Positions as they were given: negative ones still count from the end.
std::vector<int64_t> of_tensor(std::string_view function, const Tensor& positions) {
    if (positions.size() == 0) return {};
    if (positions.dtype() == DType::boolean) {
        const Array where = concrete(function, "obj", nonzero(positions)[0]);
        return {where.data_as<int64_t>(), where.data_as<int64_t>() + where.size()};
    }
    user_check<IndexError>(ir::is_integer(positions.dtype()), function,
                           ": arrays used as indices must be of integer (or boolean) type, not ",
                           positions.dtype(), ".");
    const Array values = concrete(function, "obj", ops::astype(positions, DType::int64));
    return {values.data_as<int64_t>(), values.data_as<int64_t>() + values.size()};
}

// Non-negative; up to and with `most`.
int64_t normal(std::string_view function, int64_t position, const Along& at, int64_t most) {
    user_check<IndexError>(position >= -at.length && position <= most, function, ": index ",
                           position, " is out of bounds for axis ", at.axis, " with size ",
                           at.length, ".");
    return position < 0 ? position + at.length : position;
}

// `values` in x's dtype and with at least its rank, leading axes of length 1 added.
Tensor as_values(const Tensor& x, const Operand& values) {
    check_integer_fits("insert", values, x.dtype());
    Tensor result = ops::astype(values, x.dtype());
    Shape shape = result.shape();
    while (static_cast<int>(shape.size()) < x.rank()) shape.insert(shape.begin(), 1);
    return reshape(result, shape);
}

// x and, behind it along the axis, `count` slices of values; then all in this order.
Tensor merged(const Along& at, const Tensor& values, int64_t count,
              const std::vector<int64_t>& order) {
    Shape shape = at.x.shape(), given = values.shape();
    shape[static_cast<size_t>(at.axis)] = count;
    while (given.size() > shape.size() && given.front() == 1) given.erase(given.begin());
    user_check(given.size() <= shape.size(), "insert: could not broadcast input array from shape ",
               values.shape(), " into shape ", shape, ".");
    const Tensor part = broadcast_to(reshape(values, given), shape);
    const Tensor both = concatenate({at.x, part}, at.axis);
    return take(both, array(order), at.axis);
}

}  // namespace

Tensor insert(const Tensor& x, const Positions& positions, const Operand& values,
              std::optional<int64_t> axis) {
    return errors_as("insert", [&] {
        const Along at = along("insert", x, axis);
        std::vector<int64_t> places;
        bool is_single = false;
        if (std::holds_alternative<int64_t>(positions)) {
            places = {std::get<int64_t>(positions)};
            is_single = true;
        } else if (std::holds_alternative<Slice>(positions)) {
            places = of_slice(std::get<Slice>(positions), at.length);
        } else {
            const Tensor& given = std::get<Tensor>(positions);
            user_check(given.dtype() == DType::boolean ? given.rank() == 1 : given.rank() <= 1,
                       "insert: index array argument obj to insert must be one dimensional or "
                       "scalar, not ",
                       given.shape(), ".");
            places = of_tensor("insert", given);
            is_single = given.rank() == 0;
        }
        Tensor added = as_values(at.x, values);
        auto count = static_cast<int64_t>(places.size());
        if (count == 1) {
            // As many slices as `values` has go before the one position.
            // For an integer the first axis of `values` is the axis of x.
            if (is_single) added = moveaxis(added, 0, at.axis);
            count = added.shape()[static_cast<size_t>(at.axis)];
            places.assign(static_cast<size_t>(count), places[0]);
        }
        for (int64_t& place : places) place = normal("insert", place, at, at.length);
        std::vector<int64_t> order(places.size());
        std::iota(order.begin(), order.end(), at.length);
        std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
            return places[static_cast<size_t>(a - at.length)] <
                   places[static_cast<size_t>(b - at.length)];
        });
        std::vector<int64_t> all;
        size_t next = 0;
        for (int64_t i = 0; i <= at.length; ++i) {
            while (next < order.size() && places[static_cast<size_t>(order[next] - at.length)] == i)
                all.push_back(order[next++]);
            if (i < at.length) all.push_back(i);
        }
        return merged(at, added, count, all);
    });
}

Tensor delete_(const Tensor& x, const Positions& positions, std::optional<int64_t> axis) {
    return errors_as("delete", [&] {
        const Along at = along("delete", x, axis);
        std::vector<int64_t> places;
        if (std::holds_alternative<int64_t>(positions)) {
            places = {std::get<int64_t>(positions)};
        } else if (std::holds_alternative<Slice>(positions)) {
            places = of_slice(std::get<Slice>(positions), at.length);
        } else {
            const Tensor& given = std::get<Tensor>(positions);
            if (given.dtype() == DType::boolean)
                user_check(given.rank() == 1 && given.size() == at.length,
                           "delete: boolean array argument obj to delete must be one dimensional "
                           "and match the axis length of ",
                           at.length, ", not ", given.shape(), ".");
            places = of_tensor("delete", given);
        }
        std::vector<bool> goes(static_cast<size_t>(at.length), false);
        for (int64_t place : places)
            goes[static_cast<size_t>(normal("delete", place, at, at.length - 1))] = true;
        std::vector<int64_t> kept;
        for (int64_t i = 0; i < at.length; ++i)
            if (!goes[static_cast<size_t>(i)]) kept.push_back(i);
        return take(at.x, array(kept), at.axis);
    });
}

}  // namespace composit::numpy
