// Elements moved: layouts, slices, padding, windows, and values that are passed on.
#include "composit/base/text.h"
#include "composit/ir/operation.h"
#include "composit/mlir/graph_printer.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numeric>

namespace composit::mlir {
namespace {

const Axes& axes_of(const Node& node, std::string_view name) {
    return node.attributes().get<Axes>(name);
}

Axes counted(int64_t first, int64_t end) {
    Axes axes(static_cast<size_t>(std::max<int64_t>(0, end - first)));
    std::iota(axes.begin(), axes.end(), first);
    return axes;
}

Values passed_on(GraphPrinter&, const Node&, const Values& x) { return {x[0]}; }

Values split(GraphPrinter& printer, const Node& node, const Values& x) {
    const auto axis = static_cast<size_t>(node.attributes().get<int64_t>("axis"));
    Axes starts(x[0].shape.size(), 0);
    const Axes ones(x[0].shape.size(), 1);
    Values parts;
    for (const ir::TensorType& type : node.types()) {
        parts.push_back(printer.out.slice(x[0], starts, type.shape, ones));
        starts[axis] += type.shape[axis];
    }
    return parts;
}

// The places of all elements of all windows: (counts…, window…, spatial axes).
Value places_of_windows(Writer& out, const Shape& counts, const Axes& window, const Axes& steps,
                        const Axes& dilations) {
    Shape shape = counts;
    shape.insert(shape.end(), window.begin(), window.end());
    shape.push_back(1);
    Values parts;
    for (size_t d = 0; d < counts.size(); ++d) {
        const ValueType type{DType::int64, shape};
        const auto along = [&](size_t axis, int64_t factor) {
            const Value places = out.iota(DType::int64, shape, static_cast<int64_t>(axis));
            return factor == 1 ? places
                               : out.binary("multiply", places,
                                            out.number(type, static_cast<double>(factor)));
        };
        parts.push_back(
            out.binary("add", along(d, steps[d]), along(counts.size() + d, dilations[d])));
    }
    return out.concatenate(parts, static_cast<int64_t>(shape.size()) - 1);
}

Values windows(GraphPrinter& printer, const Node& node, const Values& x) {
    const Axes& window = axes_of(node, "window");
    const Shape& shape = node.types()[0].shape;
    const auto count = static_cast<int64_t>(window.size());
    const int64_t lead = x[0].rank() - count;
    const Shape counts(shape.begin() + lead, shape.begin() + lead + count);
    const Value places = places_of_windows(printer.out, counts, window, axes_of(node, "steps"),
                                           axes_of(node, "dilations"));
    const Axes spatial = counted(lead, lead + count);
    Axes sizes(x[0].shape.begin(), x[0].shape.begin() + lead);
    sizes.insert(sizes.end(), window.size(), 1);
    return {printer.out.apply_generic(
        "gather", {x[0], places},
        "dimension_numbers = #stablehlo.gather<offset_dims = " + list_text(counted(0, lead)) +
            ", collapsed_slice_dims = " + list_text(spatial) + ", start_index_map = " +
            list_text(spatial) + ", index_vector_dim = " + std::to_string(2 * count) +
            ">, indices_are_sorted = true, slice_sizes = array<i64: " + join(sizes) + ">",
        {x[0].dtype, shape})};
}

// Windows added up, by one scatter into zeros.
Values fold(GraphPrinter& printer, const Node& node, const Values& x) {
    Writer& out = printer.out;
    const Axes& lengths = axes_of(node, "lengths");
    const auto count = static_cast<int64_t>(lengths.size());
    const int64_t lead = x[0].rank() - 2 * count;
    const auto begin = x[0].shape.begin();
    const Shape counts(begin + lead, begin + lead + count);
    const Axes window(begin + lead + count, x[0].shape.end());
    const Value places =
        places_of_windows(out, counts, window, axes_of(node, "steps"), axes_of(node, "dilations"));
    const Axes spatial = counted(lead, lead + count);
    const ValueType type{x[0].dtype, node.types()[0].shape}, element{x[0].dtype, {}};
    return out.with_block(
        "scatter", {out.number(type, 0), places, x[0]},
        "indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<"
        "update_window_dims = " +
            list_text(counted(0, lead)) + ", inserted_window_dims = " + list_text(spatial) +
            ", scatter_dims_to_operand_dims = " + list_text(spatial) +
            ", index_vector_dim = " + std::to_string(2 * count) + ">, unique_indices = false",
        {element, element},
        [&](const Values& each) { return Values{out.binary("add", each[0], each[1])}; }, {type});
}

// The value where a slice of x lies: spread between others, and chosen there.
Values with_slice(GraphPrinter& printer, const Node& node, const Values& x) {
    Writer& out = printer.out;
    const Axes &starts = axes_of(node, "starts"), &steps = axes_of(node, "steps");
    Axes turned, low, high, interior;
    bool is_whole = true;
    for (size_t d = 0; d < starts.size(); ++d) {
        const int64_t n = x[1].shape[d], step = n <= 1 ? 1 : steps[d];
        const int64_t first = step < 0 ? starts[d] + (n - 1) * step : starts[d];
        if (step < 0) turned.push_back(static_cast<int64_t>(d));
        low.push_back(first);
        interior.push_back(std::abs(step) - 1);
        const int64_t end =
            first + std::max<int64_t>(0, n - 1) * std::abs(step) + std::min<int64_t>(n, 1);
        high.push_back(x[0].shape[d] - end);
        is_whole = is_whole && interior.back() == 0;
    }
    const Value value = out.reverse(x[1], turned);
    if (ir::element_count(value.shape) == 0) return {x[0]};
    if (is_whole) {
        Values operands{x[0], value};
        for (const int64_t start : low)
            operands.push_back(out.number(DType::int64, static_cast<double>(start)));
        return {out.apply("dynamic_update_slice", operands, "", x[0].type())};
    }
    const Value spread = out.pad(value, out.number(value.dtype, 0), low, high, interior);
    const Value places = out.pad(out.number({DType::boolean, value.shape}, 1),
                                 out.number(DType::boolean, 0), low, high, interior);
    return {out.select(places, spread, x[0])};
}

Values element(GraphPrinter& printer, const Node& node, const Values& x) {
    const Axes& position = axes_of(node, "position");
    const Axes ones(position.size(), 1);
    return {printer.out.reshape(printer.out.slice(x[0], position, ones, ones), {})};
}

Values with_element(GraphPrinter& printer, const Node& node, const Values& x) {
    const Axes& position = axes_of(node, "position");
    Values operands{x[0], printer.out.reshape(x[1], Shape(position.size(), 1))};
    for (const int64_t start : position)
        operands.push_back(printer.out.number(DType::int64, static_cast<double>(start)));
    return {printer.out.apply("dynamic_update_slice", operands, "", x[0].type())};
}

}  // namespace

void add_layout_rules(PrintRules& rules) {
    rules["reshape"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        return Values{printer.out.reshape(x[0], axes_of(node, "shape"))};
    };
    rules["transpose"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        return Values{printer.out.transpose(x[0], axes_of(node, "axes"))};
    };
    rules["broadcast_to"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        return Values{printer.out.broadcast(x[0], axes_of(node, "shape"))};
    };
    rules["slice"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        return Values{printer.out.slice(x[0], axes_of(node, "starts"), axes_of(node, "lengths"),
                                        axes_of(node, "steps"))};
    };
    rules["concatenate"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        return Values{printer.out.concatenate(x, node.attributes().get<int64_t>("axis"))};
    };
    rules["pad"] = [](GraphPrinter& printer, const Node& node, const Values& x) {
        return Values{printer.out.pad(x[0], x[1], axes_of(node, "low"), axes_of(node, "high"),
                                      axes_of(node, "interior"))};
    };
    rules["iota"] = [](GraphPrinter& printer, const Node& node, const Values&) {
        return Values{printer.out.iota(DType::int64, node.types()[0].shape,
                                       node.attributes().get<int64_t>("axis"))};
    };
    rules["split"] = split;
    rules["windows"] = windows;
    rules["fold"] = fold;
    rules["with_slice"] = with_slice;
    rules["element"] = element;
    rules["with_element"] = with_element;
    // Values that are passed on: where they lie, when they are computed and what their gradients
    // are is no matter of StableHLO's.
    for (const char* name : {"transfer", "stop_gradient", "refuse_gradient"})
        rules[name] = passed_on;
    // Their second operand is the value.
    rules["gradient_where"] = rules["with_values"] = [](GraphPrinter&, const Node&,
                                                        const Values& x) { return Values{x[1]}; };
    rules["after"] = [](GraphPrinter&, const Node& node, const Values& x) {
        return Values(x.begin(), x.begin() + node.output_count());
    };
}

}  // namespace composit::mlir
