// Elements by position: gathers, scatters, single elements, slices that are written, orders.
#include "composit/ir/operation.h"
#include "composit/onnx/save_rules.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numeric>

namespace composit::onnx::saving {
namespace {

using Axes = std::vector<int64_t>;

// The indexed axes first, then the others, in order.
Axes indexed_first(const Axes& axes, int64_t rank) {
    Axes order = axes;
    for (int64_t d = 0; d < rank; ++d)
        if (std::find(axes.begin(), axes.end(), d) == axes.end()) order.push_back(d);
    return order;
}

Axes inverse(const Axes& order) {
    Axes result(order.size());
    for (size_t i = 0; i < order.size(); ++i)
        result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    return result;
}

// Indices, broadcast together, of one tuple each: (…, number of axes).
Written tuples(GraphWriter& out, const ManyWritten& indices) {
    std::vector<Shape> shapes;
    for (const Written& each : indices) shapes.push_back(each.shape);
    const Shape common = ops::broadcast_shapes("onnx.save", shapes);
    Shape apart = common, joined = common;
    apart.push_back(1);
    joined.push_back(static_cast<int64_t>(indices.size()));
    ManyWritten parts;
    for (const Written& each : indices)
        parts.push_back(out.reshape(out.broadcast(out.cast(each, DType::int64), common), apart));
    if (parts.size() == 1) return parts[0];
    return out.add("Concat", parts, {DType::int64, joined}, {integer_attribute("axis", -1)});
}

ManyWritten gather(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    GraphWriter& out = saver.out;
    const Axes& axes = node.attributes().get<Axes>("axes");
    const Shape& shape = node.types()[0].shape;
    const Written data = out.transpose(x[0], indexed_first(axes, x[0].rank()));
    if (axes.size() == 1)
        return {out.gather(data,
                           ir::is_integer(x[1].dtype) && ir::size_of(x[1].dtype) >= 4 &&
                                   ir::is_signed_integer(x[1].dtype)
                               ? x[1]
                               : out.cast(x[1], DType::int64),
                           0)};
    return {
        out.add("GatherND", {data, tuples(out, {x.begin() + 1, x.end()})}, {x[0].dtype, shape})};
}

ManyWritten scatter(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    GraphWriter& out = saver.out;
    const Axes& axes = node.attributes().get<Axes>("axes");
    const Axes order = indexed_first(axes, x[0].rank());
    const Written data = out.transpose(x[0], order);
    std::vector<Attribute> attributes;
    if (node.attributes().get<bool>("add"))
        attributes.push_back(text_attribute("reduction", "add"));
    const Written written = out.add(
        "ScatterND",
        {data,
         tuples(out, {x.begin() + 1, x.begin() + 1 + static_cast<std::ptrdiff_t>(axes.size())}),
         x.back()},
        {data.dtype, data.shape}, std::move(attributes));
    return {out.transpose(written, inverse(order))};
}

// x with elements at constant places written over: one tuple for each element of the value's
// leading axes, those behind are written whole.
Written written_at(GraphWriter& out, const Written& x, const Axes& starts, const Axes& steps,
                   const Written& value) {
    size_t count = x.shape.size();
    while (count > 1 && starts[count - 1] == 0 && steps[count - 1] == 1 &&
           value.shape[count - 1] == x.shape[count - 1])
        --count;
    const Shape lead(value.shape.begin(), value.shape.begin() + static_cast<std::ptrdiff_t>(count));
    Axes places, position(count, 0);
    for (int64_t i = 0; i < ir::element_count(lead); ++i) {
        for (size_t d = 0; d < count; ++d) places.push_back(starts[d] + position[d] * steps[d]);
        for (size_t d = count; d-- > 0;) {
            if (++position[d] < lead[d]) break;
            position[d] = 0;
        }
    }
    Shape indices = lead;
    indices.push_back(static_cast<int64_t>(count));
    return out.add("ScatterND", {x, out.integers(std::move(places), std::move(indices)), value},
                   {x.dtype, x.shape});
}

ManyWritten with_slice(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    return {written_at(saver.out, x[0], node.attributes().get<Axes>("starts"),
                       node.attributes().get<Axes>("steps"), x[1])};
}

ManyWritten element(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    const Axes& position = node.attributes().get<Axes>("position");
    return {saver.out.add("GatherND", {x[0], saver.out.integers(position)}, {x[0].dtype, {}})};
}

ManyWritten with_element(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    const Axes& position = node.attributes().get<Axes>("position");
    const Shape one(position.size(), 1);
    return {written_at(saver.out, x[0], position, Axes(position.size(), 1),
                       saver.out.reshape(x[1], one))};
}

// Values in order, and where they were: equal ones in the order of their places.
ManyWritten ordered(GraphSaver& saver, const Node& node, const Written& x) {
    GraphWriter& out = saver.out;
    const int64_t axis = node.attributes().get<int64_t>("axis");
    const int64_t length = x.shape[static_cast<size_t>(axis)];
    return out.add_all("TopK", {x, out.integers({length})},
                       {{x.dtype, x.shape}, {DType::int64, x.shape}},
                       {integer_attribute("axis", axis), integer_attribute("largest", 0),
                        integer_attribute("sorted", 1)});
}

// What ONNX orders: bools as integers.
Written orderable(GraphWriter& out, const Written& x) {
    return x.dtype == DType::boolean ? out.cast(x, DType::int32) : x;
}

// How many elements of each row come before each value. NaN come last.
ManyWritten search(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    GraphWriter& out = saver.out;
    const bool is_right = node.attributes().get<bool>("is_right");
    const size_t lead = x[0].shape.size() - 1;
    Shape row(x[0].shape.begin(), x[0].shape.end() - 1), apart = x[1].shape;
    row.insert(row.end(), x[1].shape.size() - lead, 1);
    row.push_back(x[0].shape.back());
    apart.push_back(1);
    const Written sorted = out.reshape(x[0], row), values = out.reshape(x[1], apart);
    Written before = out.compare(is_right ? "LessOrEqual" : "Less", sorted, values);
    if (ir::is_floating(x[0].dtype)) {
        const auto nan = [&](const Written& of) {
            return out.add("IsNaN", {of}, {DType::boolean, of.shape});
        };
        const Written last =
            is_right ? nan(values) : out.compare("And", nan(values), out.unary("Not", nan(sorted)));
        before = out.compare("Or", before, last);
    }
    return {out.add("ReduceSum", {out.cast(before, DType::int64), out.integers({-1})},
                    {DType::int64, x[1].shape}, {integer_attribute("keepdims", 0)})};
}

}  // namespace

void add_indexing_rules(SaveRules& rules) {
    rules["gather"] = gather;
    rules["scatter"] = scatter;
    rules["with_slice"] = with_slice;
    rules["element"] = element;
    rules["with_element"] = with_element;
    rules["search"] = search;
    rules["sort"] = [](GraphSaver& saver, const Node& node, const ManyWritten& x) {
        return ManyWritten{
            saver.out.cast(ordered(saver, node, orderable(saver.out, x[0]))[0], x[0].dtype)};
    };
    rules["argsort"] = [](GraphSaver& saver, const Node& node, const ManyWritten& x) {
        return ManyWritten{ordered(saver, node, orderable(saver.out, x[0]))[1]};
    };
}

}  // namespace composit::onnx::saving
