// Elements by position: JAX's windows at starts, as indices of each axis; orders.
#include "composit/base/error.h"
#include "composit/functional/loops.h"
#include "composit/jax/rules.h"

#include <algorithm>
#include <limits>

namespace composit::jax {
namespace {

bool holds(const Axes& axes, int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

int64_t place_of_axis(const Axes& axes, int64_t axis) {
    return std::find(axes.begin(), axes.end(), axis) - axes.begin();
}

Tensor limited(const Tensor& start, int64_t most) {
    return ops::map("minimum", {ops::map("maximum", {start, integer_number(DType::int64, 0)}),
                                integer_number(DType::int64, most)});
}

// Starts as int64, those beyond it as its greatest.
Tensor as_starts(const Tensor& x) {
    if (x.dtype() != DType::uint64) return ops::astype(x, DType::int64);
    const Tensor most = integer_number(x.dtype(), std::numeric_limits<int64_t>::max());
    return ops::astype(ops::map("minimum", {x, most}), DType::int64);
}

// Windows of an operand at starts that indices (…, axes) say, in terms of gather and scatter.
struct Windows {
    Axes axes;        // of the operand that are indexed, ascending
    Tensors indices;  // of each: batch axes, then one for each window
    Axes windows;     // those of `axes` that have a window's axis, in that order
    size_t batch_rank = 0;
    Tensor fits;  // a bool for each start, of the batch axes; empty: nobody asks
};

// What a dimension_numbers of gather or scatter says.
struct Numbers {
    Axes starts;  // the operand's axis of each column of indices
    Axes batch, batch_of_indices;
    Axes dropped;         // axes without a window's axis in result or update
    bool checks = false;  // whether starts out of bounds are dropped, not moved
};

Windows windows_of(const Shape& operand, const Tensor& given, const Axes& sizes,
                   const Numbers& numbers) {
    const Tensor indices = as_starts(given);
    Windows made;
    made.batch_rank = indices.shape().size() - 1;
    const Shape batch(indices.shape().begin(), indices.shape().end() - 1);
    Axes starts_at;
    for (int64_t d = 0; d < static_cast<int64_t>(operand.size()); ++d) {
        const bool is_indexed = holds(numbers.starts, d) || holds(numbers.batch, d);
        if (!is_indexed) continue;
        made.axes.push_back(d);
        if (!holds(numbers.dropped, d) && !holds(numbers.batch, d)) made.windows.push_back(d);
    }
    const size_t rank = made.batch_rank + made.windows.size();
    for (const int64_t d : made.axes) {
        const auto axis = static_cast<size_t>(d);
        Tensor index;
        if (holds(numbers.batch, d)) {
            const auto along = static_cast<size_t>(
                numbers.batch_of_indices[static_cast<size_t>(place_of_axis(numbers.batch, d))]);
            index = counted(batch[along], along, rank);
        } else {
            const int64_t column = place_of_axis(numbers.starts, d);
            Axes first(indices.shape().size(), 0), lengths = indices.shape();
            first.back() = column;
            lengths.back() = 1;
            const Tensor start =
                ops::reshape(ops::slice(indices, first, lengths, Axes(lengths.size(), 1)), batch);
            const int64_t most = operand[axis] - sizes[axis];
            const Tensor inside = limited(start, most);
            if (numbers.checks) {
                const Tensor fits = ops::map("equal", {start, inside});
                made.fits = made.fits ? ops::map("bitwise_and", {made.fits, fits}) : fits;
            }
            index = with_axes_behind(inside, rank);
        }
        if (holds(made.windows, d)) {
            const size_t at = made.batch_rank + static_cast<size_t>(place_of_axis(made.windows, d));
            index = ops::map("add", {index, counted(sizes[axis], at, rank)});
        }
        made.indices.push_back(index);
    }
    if (made.indices.empty()) return made;
    // All of them have the batch's axes.
    Shape whole(rank, 1);
    std::copy(batch.begin(), batch.end(), whole.begin());
    for (size_t w = 0; w < made.windows.size(); ++w)
        whole[made.batch_rank + w] = sizes[static_cast<size_t>(made.windows[w])];
    made.indices[0] = ops::broadcast_to(made.indices[0], whole);
    return made;
}

// The operand's axes that gather's result has behind the batch: windows, then what is not indexed.
Axes order_of_gather(const Windows& windows, int64_t rank) {
    Axes order = windows.windows;
    for (int64_t d = 0; d < rank; ++d)
        if (!holds(windows.axes, d)) order.push_back(d);
    return order;
}

// From (batch, axes of `order`) to the result whose axes at `offsets` are the windows, ascending by
// the operand's axis.
Axes to_result(const Axes& order, const Axes& offsets, size_t batch_rank) {
    Axes ascending = order;
    std::sort(ascending.begin(), ascending.end());
    const size_t rank = batch_rank + order.size();
    Axes permutation(rank);
    int64_t batch = 0;
    size_t window = 0;
    for (size_t d = 0; d < rank; ++d) {
        if (holds(offsets, static_cast<int64_t>(d)))
            permutation[d] =
                static_cast<int64_t>(batch_rank) + place_of_axis(order, ascending[window++]);
        else
            permutation[d] = batch++;
    }
    return permutation;
}

Axes inverse_of(const Axes& order) {
    Axes result(order.size());
    for (size_t i = 0; i < order.size(); ++i)
        result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    return result;
}

Tensor filler_of(const Application& a, DType dtype) {
    if (a.parameters.has("fill_value")) {
        const ir::Attribute* const given = a.parameters.find("fill_value");
        if (const auto* const whole = std::get_if<int64_t>(given))
            return integer_number(dtype, *whole);
        if (const auto* const real = std::get_if<double>(given)) return number(dtype, *real);
    }
    if (ir::is_inexact(dtype)) return number(dtype, std::numeric_limits<double>::quiet_NaN());
    return extreme(dtype, ir::is_signed_integer(dtype));
}

Tensor gathered(const Application& a) {
    const Axes& sizes = a.axes("slice_sizes");
    const Axes& offsets = a.axes("dimension_numbers.offset_dims");
    Numbers numbers{a.axes("dimension_numbers.start_index_map"),
                    a.axes("dimension_numbers.operand_batching_dims"),
                    a.axes("dimension_numbers.start_indices_batching_dims"),
                    a.axes("dimension_numbers.collapsed_slice_dims"),
                    a.text_or("mode", "") == "FILL_OR_DROP"};
    const Tensor& x = a.x[0];
    const Windows windows = windows_of(x.shape(), a.x[1], sizes, numbers);
    // Axes that nothing indexes are cut to the window's length from 0 on.
    Axes lengths = x.shape();
    for (size_t d = 0; d < lengths.size(); ++d)
        if (!holds(windows.axes, static_cast<int64_t>(d))) lengths[d] = sizes[d];
    const Tensor data = ops::slice(x, Axes(lengths.size(), 0), lengths, Axes(lengths.size(), 1));
    Tensor found;
    if (windows.axes.empty()) {
        Shape shape(a.x[1].shape().begin(), a.x[1].shape().end() - 1);
        shape.insert(shape.end(), lengths.begin(), lengths.end());
        found = ops::broadcast_to(data, shape);
    } else {
        found = ops::gather(data, windows.indices, windows.axes);
    }
    // Axes that are not indexed, but dropped, have length 1.
    Axes order = order_of_gather(windows, x.rank()), kept;
    Shape shape(found.shape().begin(),
                found.shape().begin() + static_cast<std::ptrdiff_t>(windows.batch_rank));
    for (size_t k = 0; k < order.size(); ++k) {
        if (holds(numbers.dropped, order[k])) continue;
        kept.push_back(order[k]);
        shape.push_back(found.shape()[windows.batch_rank + k]);
    }
    found = ops::reshape(found, shape);
    if (windows.fits)
        found = ops::map("where", {with_axes_behind(windows.fits, shape.size()), found,
                                   filler_of(a, found.dtype())});
    return ops::transpose(found, to_result(kept, offsets, windows.batch_rank));
}

// What a scatter writes where.
struct Writing {
    Windows windows;
    Axes sizes;     // of a window along each of the operand's axes
    Axes order;     // the operand's axes that `update` has behind the batch
    Tensor update;  // (batch, axes of `order`)
};

Writing writing_of(const Application& a) {
    const Tensor& x = a.x[0];
    const Axes& offsets = a.axes("dimension_numbers.update_window_dims");
    Numbers numbers{
        a.axes("dimension_numbers.scatter_dims_to_operand_dims"),
        a.axes("dimension_numbers.operand_batching_dims"),
        a.axes("dimension_numbers.scatter_indices_batching_dims"),
        a.axes("dimension_numbers.inserted_window_dims"),
        a.text_or("mode", "") != "CLIP" && a.text_or("mode", "") != "PROMISE_IN_BOUNDS"};
    Writing made;
    Axes& sizes = made.sizes;
    sizes = Axes(x.shape().size(), 1);
    Axes window_axes;
    for (int64_t d = 0; d < x.rank(); ++d)
        if (!holds(numbers.dropped, d) && !holds(numbers.batch, d)) window_axes.push_back(d);
    for (size_t k = 0; k < offsets.size(); ++k)
        sizes[static_cast<size_t>(window_axes[k])] =
            a.x[2].shape()[static_cast<size_t>(offsets[k])];
    made.windows = windows_of(x.shape(), a.x[1], sizes, numbers);
    made.order = order_of_gather(made.windows, x.rank());
    Axes kept;
    for (const int64_t axis : made.order)
        if (!holds(numbers.dropped, axis)) kept.push_back(axis);
    const size_t batch_rank = made.windows.batch_rank;
    const Tensor update = ops::transpose(a.x[2], inverse_of(to_result(kept, offsets, batch_rank)));
    // Dropped axes that are not indexed have length 1 in the update.
    Shape shape(update.shape().begin(),
                update.shape().begin() + static_cast<std::ptrdiff_t>(batch_rank));
    for (const int64_t axis : made.order) shape.push_back(sizes[static_cast<size_t>(axis)]);
    made.update = ops::reshape(update, shape);
    user_check<NotSupported>(
        !made.windows.axes.empty() || (batch_rank == 0 && made.update.shape() == x.shape()),
        "trace_jax: ", a.name, " without indices. An axis that is indexed is required.");
    for (int64_t d = 0; d < x.rank(); ++d)
        user_check<NotSupported>(
            holds(made.windows.axes, d) ||
                sizes[static_cast<size_t>(d)] == x.shape()[static_cast<size_t>(d)],
            "trace_jax: ", a.name, " writes a part of axis ", d,
            ", which no index says. Whole axes are required there.");
    return made;
}

Tensor scattered(const Application& a, bool adds) {
    const Tensor& x = a.x[0];
    const Writing writing = writing_of(a);
    const Windows& windows = writing.windows;
    Tensor update = writing.update;
    if (windows.axes.empty()) return adds ? ops::map("add", {x, update}) : update;
    if (!windows.fits) return ops::scatter(x, windows.indices, windows.axes, update, adds);
    if (adds) {
        const Tensor none = number(update.dtype(), 0);
        update = ops::map("where",
                          {with_axes_behind(windows.fits, update.shape().size()), update, none});
        return ops::scatter(x, windows.indices, windows.axes, update, true);
    }
    // What does not fit goes behind the operand, and is cut off.
    Tensors indices = windows.indices;
    const auto first = static_cast<size_t>(windows.axes[0]);
    const int64_t length = x.shape()[first], more = writing.sizes[first];
    Axes nothing(x.shape().size(), 0), high = nothing;
    high[first] = more;
    const Tensor longer = ops::pad(x, number(x.dtype(), 0), nothing, high, nothing);
    Tensor behind = integer_number(DType::int64, length);
    if (holds(windows.windows, windows.axes[0])) {
        const size_t at = windows.batch_rank +
                          static_cast<size_t>(place_of_axis(windows.windows, windows.axes[0]));
        behind = ops::map("add", {behind, counted(more, at, indices[0].shape().size())});
    }
    indices[0] = ops::map(
        "where", {with_axes_behind(windows.fits, indices[0].shape().size()), indices[0], behind});
    const Tensor written = ops::scatter(longer, indices, windows.axes, update, false);
    return ops::slice(written, nothing, x.shape(), Axes(x.shape().size(), 1));
}

// The place of each element of an update in the flattened operand; where it does not fit, the place
// behind the last one.
Tensor flat_places(const Writing& writing, const Shape& operand) {
    const Windows& windows = writing.windows;
    const size_t rank = writing.update.shape().size();
    Tensor places;
    int64_t stride = 1;
    for (size_t d = operand.size(); d-- > 0;) {
        const auto axis = static_cast<int64_t>(d);
        const Tensor index =
            holds(windows.axes, axis)
                ? with_axes_behind(
                      windows.indices[static_cast<size_t>(place_of_axis(windows.axes, axis))], rank)
                : counted(
                      operand[d],
                      windows.batch_rank + static_cast<size_t>(place_of_axis(writing.order, axis)),
                      rank);
        const Tensor step = ops::map("multiply", {index, integer_number(DType::int64, stride)});
        places = places ? ops::map("add", {places, step}) : step;
        stride *= operand[d];
    }
    if (windows.fits)
        places = ops::map("where", {with_axes_behind(windows.fits, rank), places,
                                    integer_number(DType::int64, stride)});
    return ops::reshape(ops::broadcast_to(places, writing.update.shape()), {writing.update.size()});
}

// The greatest or least of an element and what is written to it: what is written last stays, so
// that is the greatest.
Tensor with_extremes(const Tensor& data, const Tensor& places, const Tensor& values,
                     std::string_view row) {
    const bool is_least = row == "minimum";
    const Tensor key =
        is_least ? ops::map(ir::is_inexact(values.dtype()) ? "negative" : "invert", {values})
                 : values;
    const Tensor order = ops::argsort(key, 0);
    const Tensor written = ops::scatter(data, {ops::gather(places, {order}, {0})}, {0},
                                        ops::gather(values, {order}, {0}), false);
    return ops::map(row, {data, written});
}

// Products, one after the other.
Tensor with_products(const Tensor& data, const Tensor& places, const Tensor& values) {
    return fori_loop(
        0, values.size(),
        [&](const Tensor& i, const Tensor& state) {
            const Tensor place = ops::gather(places, {i}, {0});
            const Tensor made = ops::map(
                "multiply", {ops::gather(state, {place}, {0}), ops::gather(values, {i}, {0})});
            return ops::scatter(state, {place}, {0}, made, false);
        },
        data);
}

// What is written to an element is combined with what is there, by a row of two operands.
ApplyRule combined_by(std::string_view row) {
    return [row](const Application& a) {
        const Tensor& x = a.x[0];
        const Writing writing = writing_of(a);
        if (writing.windows.axes.empty()) return Tensors{ops::map(row, {x, writing.update})};
        const Tensor places = flat_places(writing, x.shape());
        const Tensor values = ops::reshape(writing.update, {writing.update.size()});
        const Tensor data =
            ops::pad(ops::reshape(x, {x.size()}), number(x.dtype(), 0), {0}, {1}, {0});
        const Tensor made = row == "multiply" ? with_products(data, places, values)
                                              : with_extremes(data, places, values, row);
        return Tensors{ops::reshape(ops::slice(made, {0}, {x.size()}, {1}), x.shape())};
    };
}

Tensor with_differences(const Application& a) {
    const Tensors operands{a.x[0], a.x[1], ops::map("negative", {a.x[2]})};
    return scattered({a.name, operands, a.parameters}, true);
}

// ----- dynamic slices: one window, at starts that are numbers
Tensors positions(const Shape& shape, const Shape& sizes, const Tensors& starts, Axes& axes) {
    Tensors indices;
    for (size_t d = 0; d < shape.size(); ++d)
        if (shape[d] != sizes[d]) axes.push_back(static_cast<int64_t>(d));
    for (size_t k = 0; k < axes.size(); ++k) {
        const auto d = static_cast<size_t>(axes[k]);
        const Tensor start = limited(as_starts(starts[d]), shape[d] - sizes[d]);
        indices.push_back(ops::map("add", {start, counted(sizes[d], k, axes.size())}));
    }
    return indices;
}

// From (indexed axes, others) to the order of the operand.
Axes indexed_axes_in_front(const Axes& axes, int64_t rank) {
    Axes order = axes;
    for (int64_t d = 0; d < rank; ++d)
        if (!holds(axes, d)) order.push_back(d);
    return order;
}

Tensor dynamic_slice(const Application& a) {
    const Tensor& x = a.x[0];
    Axes axes;
    const Tensors indices =
        positions(x.shape(), a.axes("slice_sizes"), {a.x.begin() + 1, a.x.end()}, axes);
    if (axes.empty()) return x;
    return ops::transpose(ops::gather(x, indices, axes),
                          inverse_of(indexed_axes_in_front(axes, x.rank())));
}

Tensor dynamic_update_slice(const Application& a) {
    const Tensor &x = a.x[0], &update = a.x[1];
    Axes axes;
    const Tensors indices =
        positions(x.shape(), update.shape(), {a.x.begin() + 2, a.x.end()}, axes);
    if (axes.empty()) return update;
    return ops::scatter(x, indices, axes,
                        ops::transpose(update, indexed_axes_in_front(axes, x.rank())), false);
}

// ----- orders
Tensors sorted_together(const Application& a) {
    const int64_t axis = a.integer("dimension"), keys = a.integer("num_keys");
    if (a.x.size() == 1) return {ops::sort(a.x[0], axis)};
    Tensor order;
    for (int64_t k = keys - 1; k >= 0; --k) {
        const Tensor& key = a.x[static_cast<size_t>(k)];
        const Tensor next = ops::argsort(order ? taken_along(key, order, axis) : key, axis);
        order = order ? taken_along(order, next, axis) : next;
    }
    Tensors results;
    for (const Tensor& x : a.x) results.push_back(taken_along(x, order, axis));
    return results;
}

// The greatest first, of equal ones the first; floats in their total order, so that NaN is
// greatest.
Tensors top(const Application& a) {
    const Tensor& x = a.x[0];
    const int64_t axis =
        a.parameters.has("axis") ? a.integer("axis") : static_cast<int64_t>(x.rank()) - 1;
    const Tensor key = ir::is_complex(x.dtype()) ? ops::map("negative", {x})
                                                 : ops::map("invert", {total_order(x)});
    const Tensor order = ops::argsort(key, axis);
    Axes lengths = x.shape();
    lengths[static_cast<size_t>(axis)] = a.integer("k");
    const Tensor places =
        ops::slice(order, Axes(lengths.size(), 0), lengths, Axes(lengths.size(), 1));
    return {taken_along(x, places, axis), ops::astype(places, DType::int32)};
}

}  // namespace

Tensor taken_along(const Tensor& x, const Tensor& order, int64_t axis) {
    Tensors indices;
    Axes axes;
    for (int64_t d = 0; d < x.rank(); ++d) {
        const auto at = static_cast<size_t>(d);
        indices.push_back(d == axis ? order : counted(x.shape()[at], at, x.shape().size()));
        axes.push_back(d);
    }
    return ops::gather(x, indices, axes);
}

void add_indexing_primitives(ApplyRules& rules) {
    rules["gather"] = [](const Application& a) { return Tensors{gathered(a)}; };
    rules["scatter"] = [](const Application& a) { return Tensors{scattered(a, false)}; };
    rules["scatter-add"] = [](const Application& a) { return Tensors{scattered(a, true)}; };
    rules["scatter-sub"] = [](const Application& a) { return Tensors{with_differences(a)}; };
    rules["scatter-max"] = combined_by("maximum");
    rules["scatter-min"] = combined_by("minimum");
    rules["scatter-mul"] = combined_by("multiply");
    rules["dynamic_slice"] = [](const Application& a) { return Tensors{dynamic_slice(a)}; };
    rules["dynamic_update_slice"] = [](const Application& a) {
        return Tensors{dynamic_update_slice(a)};
    };
    rules["sort"] = sorted_together;
    rules["top_k"] = top;
}

}  // namespace composit::jax
