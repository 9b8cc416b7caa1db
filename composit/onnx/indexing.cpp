// Operators that take, place, find and sort elements.
#include "composit/numpy/indexing.h"

#include "composit/functional/folds.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/index_arrays.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/sets.h"
#include "composit/numpy/sorting.h"
#include "composit/onnx/operators.h"

#include <algorithm>
#include <numeric>

namespace composit::onnx {
namespace indexing {
namespace {

using numpy::apply;

Value like(const Value& given, Tensor tensor) { return {std::move(tensor), given.element()}; }

Tensor as_index(const Tensor& indices) { return numpy::astype(indices, DType::int64); }

Values gather(Call& call) {
    if (call.value(0).is_strings()) {
        const Strings& strings = call.strings(0);
        call.check<NotSupported>(strings.shape.size() == 1, "strings of shape ", strings.shape,
                                 " are gathered. One axis is required.");
        return {call.strings_at(as_index(call.tensor(1)), strings.elements)};
    }
    const Tensor& x = call.tensor(0);
    const int64_t axis = call.axis(x.rank(), 0);
    return {like(call.value(0), numpy::take(x, as_index(call.tensor(1)), axis))};
}

// Indices at the positions of an axis, and along it.
Tensor wrapped(const Tensor& indices, int64_t length) {
    const Tensor whole = as_index(indices);
    return apply("where", {whole < 0, whole + length, whole});
}

Values gather_elements(Call& call) {
    const Tensor &x = call.tensor(0), &indices = call.tensor(1);
    const int64_t axis = call.axis(x.rank(), 0);
    call.check(x.rank() == indices.rank(), "indices of shape ", indices.shape(),
               " for a tensor of shape ", x.shape(), ". As many axes are required.");
    numpy::Index at;
    const std::vector<Tensor> places = numpy::sparse_indices(indices.shape());
    for (int64_t i = 0; i < x.rank(); ++i)
        at.emplace_back(i == axis ? as_index(indices) : places[static_cast<size_t>(i)]);
    return {like(call.value(0), numpy::get_item(x, at))};
}

// Rows of indices, each of which says where a slice begins.
struct RowsOfIndices {
    std::vector<Tensor> columns;
    int64_t count;
};
RowsOfIndices columns_of(const Tensor& indices) {
    const int64_t count = indices.shape().back();
    RowsOfIndices rows{{}, count};
    for (int64_t i = 0; i < count; ++i)
        rows.columns.push_back(numpy::get_item(as_index(indices), {numpy::Ellipsis{}, i}));
    return rows;
}

Values gather_nd(Call& call) {
    const Tensor &x = call.tensor(0), &indices = call.tensor(1);
    const int64_t batch = call.integer("batch_dims", 0);
    call.check(indices.rank() > 0 && batch >= 0 && batch < indices.rank() && batch < x.rank() &&
                   indices.shape().back() + batch <= x.rank(),
               "indices of shape ", indices.shape(), " with ", batch,
               " batch axes for a tensor of shape ", x.shape(),
               ". Rows of at most as many indices as there are axes are required.");
    numpy::Index at;
    const Shape before(indices.shape().begin(), indices.shape().end() - 1);
    std::vector<Tensor> places = numpy::sparse_indices(before);
    for (int64_t i = 0; i < batch; ++i) at.emplace_back(places[static_cast<size_t>(i)]);
    for (const Tensor& column : columns_of(indices).columns) at.emplace_back(column);
    return {like(call.value(0), numpy::get_item(x, at))};
}

// x with updates at the indices: written over what is there, or joined with it in order.
Tensor placed(Call& call, const Tensor& x, numpy::Index at, const Tensor& updates) {
    const std::string reduction = call.text("reduction", "none");
    if (reduction == "none") return numpy::set_item(x, at, updates);
    if (reduction == "add") return numpy::add_at(x, at, updates);
    const std::string_view row = reduction == "mul"   ? "multiply"
                                 : reduction == "max" ? "maximum"
                                 : reduction == "min" ? "minimum"
                                                      : "";
    call.check(!row.empty(), "reduction is '", reduction,
               "'. none, add, mul, max or min is required.");
    for (numpy::IndexEntry& entry : at) entry = numpy::asarray(call.known(std::get<Tensor>(entry)));
    return folds::at(ir::scalar::row(row), x, at, {updates});
}

Values scatter_elements(Call& call) {
    const Tensor &x = call.tensor(0), &indices = call.tensor(1), &updates = call.tensor(2);
    const int64_t axis = call.axis(x.rank(), 0);
    call.check(x.rank() == indices.rank() && indices.shape() == updates.shape(),
               "indices of shape ", indices.shape(), " and updates of shape ", updates.shape(),
               " for a tensor of shape ", x.shape(),
               ". Indices and updates of one shape, with as many axes, are required.");
    numpy::Index at;
    const std::vector<Tensor> places = numpy::sparse_indices(indices.shape());
    for (int64_t i = 0; i < x.rank(); ++i) {
        const auto axis_length = x.shape()[static_cast<size_t>(i)];
        at.emplace_back(numpy::broadcast_to(
            i == axis ? wrapped(indices, axis_length) : places[static_cast<size_t>(i)],
            indices.shape()));
    }
    return {like(call.value(0), placed(call, x, at, updates))};
}

Values scatter_nd(Call& call) {
    const Tensor &x = call.tensor(0), &indices = call.tensor(1), &updates = call.tensor(2);
    call.check(indices.rank() > 0 && indices.shape().back() <= x.rank(), "indices of shape ",
               indices.shape(), " for a tensor of shape ", x.shape(),
               ". Rows of at most as many indices as there are axes are required.");
    numpy::Index at;
    for (const Tensor& column : columns_of(indices).columns) at.emplace_back(column);
    return {like(call.value(0), placed(call, x, at, updates))};
}

// Values at the labels of a new axis; labels out of range have none.
Values one_hot(Call& call) {
    const auto depth = static_cast<int64_t>(call.known_number(1));
    const Tensor labels = as_index(call.tensor(0)), &values = call.tensor(2);
    const int64_t axis = call.axis(labels.rank() + 1, -1);
    call.check(values.shape() == Shape{2}, "values of shape ", values.shape(),
               ". Two, off and on, are required.");
    const Tensor hot = numpy::expand_dims(wrapped(labels, depth), -1);
    const Tensor is_on = apply("equal", {hot, numpy::arange(depth)});
    const Tensor off = numpy::get_item(values, {int64_t{0}});
    const Tensor on = numpy::get_item(values, {int64_t{1}});
    return {numpy::moveaxis(apply("where", {is_on, on, off}), -1, axis)};
}

// Equal elements keep their order, so that the first of them counts.
Values top_k(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t axis = call.axis(x.rank(), -1), length = x.shape()[static_cast<size_t>(axis)];
    const int64_t k = call.opset() < 10 ? call.integer("k") : call.known_integer(1);
    call.check(k >= 0 && k <= length, "k is ", k, " of ", length,
               ". A count of at most that is required.");
    Tensor order;
    if (call.flag("largest", true)) {
        // A stable order from the greatest on: that of the reversed axis, read backwards.
        const Tensor reversed = numpy::argsort(numpy::flip(x, axis), axis);
        order = length - 1 - numpy::flip(reversed, axis);
    } else {
        order = numpy::argsort(x, axis);
    }
    numpy::Index first(static_cast<size_t>(x.rank()), numpy::Slice{});
    first[static_cast<size_t>(axis)] = numpy::Slice{0, k};
    const Tensor places = numpy::get_item(order, first);
    return {like(call.value(0), numpy::take_along_axis(x, places, axis)), places};
}

// In the order of the values, or of their first occurrence.
Values unique(Call& call) {
    const Tensor x = call.known_tensor(0);
    std::optional<int64_t> axis;
    if (call.has_attribute("axis")) axis = call.axis(x.rank(), 0);
    numpy::Unique found = numpy::unique(x, axis);
    found.inverse = numpy::ravel(found.inverse);
    if (!call.flag("sorted", true)) {
        const Tensor order = numpy::argsort(found.indices);
        found.values = numpy::take(found.values, order, axis ? *axis : 0);
        found.indices = numpy::take(found.indices, order, 0);
        found.counts = numpy::take(found.counts, order, 0);
        found.inverse = numpy::take(numpy::argsort(order), found.inverse, 0);
    }
    return {like(call.value(0), found.values), found.indices, found.inverse, found.counts};
}

Values nonzero(Call& call) {
    const Tensor& x = call.tensor(0);
    std::vector<Tensor> places = numpy::nonzero(call.known_tensor(0));
    if (x.rank() == 0)
        return {
            numpy::reshape(places.empty() ? numpy::zeros({0}, DType::int64) : places[0], {0, -1})};
    return {numpy::stack(places, 0)};
}

Values compress(Call& call) {
    const Tensor condition = call.known_tensor(1);
    const Tensor& x = call.tensor(0);
    const Tensor places = numpy::nonzero(condition)[0];
    if (!call.has_attribute("axis"))
        return {like(call.value(0), numpy::take(numpy::ravel(x), places, 0))};
    return {like(call.value(0), numpy::take(x, places, call.axis(x.rank(), 0)))};
}

// The first elements of each sequence, as many as it is long, backwards.
Values reverse_sequence(Call& call) {
    const Tensor& x = call.tensor(0);
    const int64_t time = call.integer("time_axis", 0), batch = call.integer("batch_axis", 1);
    call.check(x.rank() >= 2 && time + batch == 1 && (time == 0 || time == 1), "time axis ", time,
               " and batch axis ", batch, " of a tensor of shape ", x.shape(),
               ". The axes 0 and 1 are required.");
    const Tensor lengths = as_index(call.tensor(1));
    const Tensor steps = numpy::arange(x.shape()[static_cast<size_t>(time)]);
    const auto along = [&](const Tensor& values, int64_t axis) {
        return numpy::expand_dims(values, axis == 0 ? 1 : 0);
    };
    const Tensor length = along(lengths, batch), step = along(steps, time);
    const Tensor from = apply("where", {step < length, length - 1 - step, step});
    const Tensor of_batch = along(numpy::arange(x.shape()[static_cast<size_t>(batch)]), batch);
    const numpy::Index at = time == 0 ? numpy::Index{from, of_batch} : numpy::Index{of_batch, from};
    return {like(call.value(0), numpy::get_item(x, at))};
}

// Rows of the cache from an index of each batch on, written over.
Values tensor_scatter(Call& call) {
    const Tensor &cache = call.tensor(0), &update = call.tensor(1);
    const int64_t axis = call.axis(cache.rank(), -2);
    const bool is_circular = call.text("mode", "linear") == "circular";
    const int64_t length = cache.shape()[static_cast<size_t>(axis)];
    call.check(axis > 0 && update.rank() == cache.rank(), "an update of shape ", update.shape(),
               " along axis ", axis, " of a cache of shape ", cache.shape(),
               ". As many axes, of which the first is the batch, are required.");
    const auto rank = static_cast<size_t>(cache.rank());
    std::vector<Tensor> places = numpy::sparse_indices(update.shape());
    Tensor rows = places[static_cast<size_t>(axis)];
    if (call.has(2)) {
        Shape batch(rank, 1);
        batch[0] = update.shape()[0];
        rows = rows + numpy::reshape(as_index(call.tensor(2)), batch);
    }
    places[static_cast<size_t>(axis)] = is_circular ? rows % length : rows;
    return {like(call.value(0), numpy::set_item(cache, {places.begin(), places.end()}, update))};
}

// ----- boxes, on values that are known
struct Box {
    double low_y, low_x, high_y, high_x;
    [[nodiscard]] double area() const { return (high_y - low_y) * (high_x - low_x); }
};

Box box_of(const double* numbers, bool is_centred) {
    if (is_centred) {
        const double half_width = numbers[2] / 2, half_height = numbers[3] / 2;
        return {numbers[1] - half_height, numbers[0] - half_width, numbers[1] + half_height,
                numbers[0] + half_width};
    }
    return {std::min(numbers[0], numbers[2]), std::min(numbers[1], numbers[3]),
            std::max(numbers[0], numbers[2]), std::max(numbers[1], numbers[3])};
}

double overlap(const Box& a, const Box& b) {
    const double height = std::min(a.high_y, b.high_y) - std::max(a.low_y, b.low_y);
    const double width = std::min(a.high_x, b.high_x) - std::max(a.low_x, b.low_x);
    if (height <= 0 || width <= 0) return 0;
    const double shared = height * width;
    return shared / (a.area() + b.area() - shared);
}

Values non_max_suppression(Call& call) {
    const Shape& boxes_shape = call.tensor(0).shape();
    const Shape& scores_shape = call.tensor(1).shape();
    call.check(boxes_shape.size() == 3 && boxes_shape[2] == 4 && scores_shape.size() == 3 &&
                   scores_shape[0] == boxes_shape[0] && scores_shape[2] == boxes_shape[1],
               "boxes of shape ", boxes_shape, " and scores of shape ", scores_shape,
               ". (batch, boxes, 4) and (batch, classes, boxes) are required.");
    const std::vector<double> boxes = call.known_numbers(0), scores = call.known_numbers(1);
    const int64_t most = call.has(2) ? call.known_integer(2) : 0;
    const double most_overlap = call.has(3) ? call.known_number(3) : 0;
    const bool is_centred = call.flag("center_point_box");
    const int64_t classes = scores_shape[1], count = boxes_shape[1];
    std::vector<int64_t> selected;
    for (int64_t batch = 0; batch < boxes_shape[0]; ++batch)
        for (int64_t label = 0; label < classes; ++label) {
            const double* score = scores.data() + (batch * classes + label) * count;
            std::vector<int64_t> order;
            for (int64_t i = 0; i < count; ++i)
                if (!call.has(4) || score[i] > call.known_number(4)) order.push_back(i);
            std::stable_sort(order.begin(), order.end(),
                             [&](int64_t a, int64_t b) { return score[a] > score[b]; });
            std::vector<Box> kept;
            for (const int64_t i : order) {
                if (static_cast<int64_t>(kept.size()) >= most) break;
                const Box box = box_of(boxes.data() + (batch * count + i) * 4, is_centred);
                const bool is_new = std::none_of(kept.begin(), kept.end(), [&](const Box& other) {
                    return overlap(box, other) > most_overlap;
                });
                if (!is_new) continue;
                kept.push_back(box);
                selected.insert(selected.end(), {batch, label, i});
            }
        }
    return {numpy::array<int64_t>(selected, {static_cast<int64_t>(selected.size()) / 3, 3})};
}

}  // namespace
}  // namespace indexing

void add_indexing(Registry& registry) {
    using namespace indexing;
    registry.add("Compress", compress);
    registry.add("Gather", gather);
    registry.add("GatherElements", gather_elements);
    registry.add("GatherND", gather_nd);
    registry.add("NonMaxSuppression", non_max_suppression);
    registry.add("NonZero", nonzero);
    registry.add("OneHot", one_hot);
    registry.add("ReverseSequence", reverse_sequence);
    registry.add("Scatter", scatter_elements);
    registry.add("ScatterElements", scatter_elements);
    registry.add("ScatterND", scatter_nd);
    registry.add("TensorScatter", tensor_scatter);
    registry.add("TopK", top_k);
    registry.add("Unique", unique);
}

}  // namespace composit::onnx
