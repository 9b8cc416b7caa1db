// Elements by position: gathers, scatters, orders.
#include "composit/base/text.h"
#include "composit/ir/operation.h"
#include "composit/mlir/graph_printer.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numeric>

namespace composit::mlir {
namespace {

const Axes& axes_of(const Node& node) { return node.attributes().get<Axes>("axes"); }

// Indices, broadcast together, of one tuple each: (…, number of axes). Those below 0 count from the
// end.
Value tuples(Writer& out, const Values& indices, const Axes& axes, const Shape& data) {
    std::vector<Shape> shapes;
    for (const Value& each : indices) shapes.push_back(each.shape);
    const Shape common = ops::broadcast_shapes("mlir.text", shapes);
    Shape apart = common;
    apart.push_back(1);
    Values parts;
    for (size_t i = 0; i < indices.size(); ++i) {
        Value index = out.convert(indices[i], DType::int64);
        if (ir::is_signed_integer(indices[i].dtype)) {
            const int64_t length = data[static_cast<size_t>(axes[i])];
            const Value behind =
                out.binary("add", index, out.number(index.type(), static_cast<double>(length)));
            index =
                out.select(out.compare("LT", index, out.number(index.type(), 0)), behind, index);
        }
        parts.push_back(out.reshape(out.broadcast(index, common), apart));
    }
    return out.concatenate(parts, static_cast<int64_t>(apart.size()) - 1);
}

Axes behind(int64_t first, int64_t count) {
    Axes axes(static_cast<size_t>(count));
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

Values gather(GraphPrinter& printer, const Node& node, const Values& x) {
    const Axes& axes = axes_of(node);
    const Value places = tuples(printer.out, {x.begin() + 1, x.end()}, axes, x[0].shape);
    const int64_t rank = places.rank() - 1;
    Axes sizes = x[0].shape;
    for (const int64_t axis : axes) sizes[static_cast<size_t>(axis)] = 1;
    return {printer.out.apply_generic(
        "gather", {x[0], places},
        "dimension_numbers = #stablehlo.gather<offset_dims = " +
            list_text(behind(rank, x[0].rank() - static_cast<int64_t>(axes.size()))) +
            ", collapsed_slice_dims = " + list_text(axes) + ", start_index_map = " +
            list_text(axes) + ", index_vector_dim = " + std::to_string(rank) +
            ">, indices_are_sorted = false, slice_sizes = array<i64: " + join(sizes) + ">",
        {x[0].dtype, node.types()[0].shape})};
}

Values scatter(GraphPrinter& printer, const Node& node, const Values& x) {
    Writer& out = printer.out;
    const Axes& axes = axes_of(node);
    const Value places =
        tuples(out, {x.begin() + 1, x.begin() + 1 + static_cast<std::ptrdiff_t>(axes.size())}, axes,
               x[0].shape);
    const int64_t rank = places.rank() - 1;
    const ValueType element{x[0].dtype, {}};
    const bool adds = node.attributes().get<bool>("add");
    return out.with_block(
        "scatter", {x[0], places, x.back()},
        "indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<"
        "update_window_dims = " +
            list_text(behind(rank, x[0].rank() - static_cast<int64_t>(axes.size()))) +
            ", inserted_window_dims = " + list_text(axes) +
            ", scatter_dims_to_operand_dims = " + list_text(axes) +
            ", index_vector_dim = " + std::to_string(rank) + ">, unique_indices = false",
        {element, element},
        [&](const Values& each) {
            return Values{
                adds ? out.binary(each[0].dtype == DType::boolean ? "or" : "add", each[0], each[1])
                     : each[1]};
        },
        {x[0].type()});
}

// Values in order, and what belongs to them: NaN last, equal ones in the order of their places.
Values ordered(Writer& out, const Values& x, int64_t axis) {
    std::vector<ValueType> parameters;
    for (const Value& each : x) {
        parameters.push_back({each.dtype, {}});
        parameters.push_back({each.dtype, {}});
    }
    return out.with_block(
        "sort", x, "dimension = " + std::to_string(axis) + " : i64, is_stable = true", parameters,
        [&](const Values& each) {
            const Value before = out.compare("LT", each[0], each[1]);
            if (!ir::is_floating(each[0].dtype)) return Values{before};
            const Value is_number = out.compare("EQ", each[0], each[0]);
            const Value is_nan = out.compare("NE", each[1], each[1]);
            return Values{out.binary("or", before, out.binary("and", is_number, is_nan))};
        },
        types_of(x));
}

// How many elements of each row come before each value. NaN come last.
Values search(GraphPrinter& printer, const Node& node, const Values& x) {
    Writer& out = printer.out;
    const bool is_right = node.attributes().get<bool>("is_right");
    const size_t lead = x[0].shape.size() - 1;
    Shape row(x[0].shape.begin(), x[0].shape.end() - 1), apart = x[1].shape;
    row.insert(row.end(), x[1].shape.size() - lead, 1);
    row.push_back(x[0].shape.back());
    apart.push_back(1);
    Shape whole = x[1].shape;
    whole.push_back(x[0].shape.back());
    const Value sorted = out.broadcast(out.reshape(x[0], row), whole);
    const Value values = out.broadcast(out.reshape(x[1], apart), whole);
    Value before = out.compare(is_right ? "LE" : "LT", sorted, values);
    if (ir::is_floating(x[0].dtype)) {
        const Value is_nan = out.compare("NE", values, values);
        const Value last =
            is_right ? is_nan : out.binary("and", is_nan, out.compare("EQ", sorted, sorted));
        before = out.binary("or", before, last);
    }
    return {out.reduce("add", out.convert(before, DType::int64), out.number(DType::int64, 0),
                       {static_cast<int64_t>(whole.size()) - 1})};
}

}  // namespace

void add_indexing_rules(PrintRules& rules) {
    rules["gather"] = gather;
    rules["scatter"] = scatter;
    rules["search"] = search;
    rules["sort"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        return ordered(printer.out, {x[0]}, node.attributes().get<int64_t>("axis"));
    };
    rules["argsort"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        const int64_t axis = node.attributes().get<int64_t>("axis");
        const Value places = printer.out.iota(DType::int64, x[0].shape, axis);
        return Values{ordered(printer.out, {x[0], places}, axis)[1]};
    };
}

}  // namespace composit::mlir
