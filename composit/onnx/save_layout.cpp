// Elements moved: layouts, slices, padding, windows, and values that are passed on.
#include "composit/ir/operation.h"
#include "composit/onnx/save_rules.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <numeric>

namespace composit::onnx::saving {
namespace {

using Axes = std::vector<int64_t>;

const Axes& axes_of(const Node& node, std::string_view name) {
    return node.attributes().get<Axes>(name);
}

ManyWritten passed_on(GraphSaver&, const Node&, const ManyWritten& x) { return {x[0]}; }

// Elements of `filler` between neighbours along each axis.
Written spread(GraphWriter& out, Written x, const Written& filler, const Axes& between) {
    for (size_t d = 0; d < x.shape.size(); ++d) {
        if (between[d] == 0 || x.shape[d] == 0) continue;
        Shape apart = x.shape, joined = x.shape;
        apart.insert(apart.begin() + static_cast<std::ptrdiff_t>(d) + 1, 1);
        Axes high(apart.size(), 0);
        high[d + 1] = between[d];
        const Written padded = out.pad(out.reshape(x, apart), filler, Axes(apart.size(), 0), high);
        joined[d] *= between[d] + 1;
        x = out.reshape(padded, joined);
        Axes lengths = joined;
        lengths[d] -= between[d];
        x = out.slice(x, Axes(joined.size(), 0), lengths, Axes(joined.size(), 1));
    }
    return x;
}

ManyWritten pad(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    GraphWriter& out = saver.out;
    const Written& filler = x[1];
    return {out.pad(spread(out, x[0], filler, axes_of(node, "interior")), filler,
                    axes_of(node, "low"), axes_of(node, "high"))};
}

ManyWritten split(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    std::vector<OutputType> types;
    for (const ir::TensorType& type : node.types()) types.push_back({type.dtype, type.shape});
    return saver.out.add_all("Split", {x[0], saver.out.integers(axes_of(node, "lengths"))}, types,
                             {integer_attribute("axis", node.attributes().get<int64_t>("axis"))});
}

// Which elements each window has along an axis: (windows, elements of a window).
Written places_of_windows(GraphWriter& out, int64_t count, int64_t window, int64_t step,
                          int64_t dilation) {
    Axes places;
    for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < window; ++k) places.push_back(i * step + k * dilation);
    return out.integers(places, {count, window});
}

ManyWritten windows(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    const Axes &window = axes_of(node, "window"), &steps = axes_of(node, "steps"),
               &dilations = axes_of(node, "dilations");
    const int64_t lead = x[0].rank() - static_cast<int64_t>(window.size());
    Written value = x[0];
    Axes order(static_cast<size_t>(lead)), within;
    std::iota(order.begin(), order.end(), 0);
    for (size_t d = 0; d < window.size(); ++d) {
        const int64_t axis = lead + 2 * static_cast<int64_t>(d);
        const int64_t count = node.types()[0].shape[static_cast<size_t>(lead) + d];
        value = saver.out.gather(
            value, places_of_windows(saver.out, count, window[d], steps[d], dilations[d]), axis);
        order.push_back(axis);
        within.push_back(axis + 1);
    }
    order.insert(order.end(), within.begin(), within.end());
    return {saver.out.transpose(value, order)};
}

// Windows added up, by one scatter into zeros: (lengths…, lead…), turned back.
ManyWritten fold(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    GraphWriter& out = saver.out;
    const Axes &lengths = axes_of(node, "lengths"), &steps = axes_of(node, "steps"),
               &dilations = axes_of(node, "dilations");
    const size_t count = lengths.size();
    const size_t lead = x[0].shape.size() - 2 * count;
    Axes front, order_back;
    for (size_t d = lead; d < x[0].shape.size(); ++d) front.push_back(static_cast<int64_t>(d));
    for (size_t d = 0; d < lead; ++d) front.push_back(static_cast<int64_t>(d));
    const Written update = out.transpose(x[0], front);
    const Shape places_shape(update.shape.begin(),
                             update.shape.begin() + static_cast<std::ptrdiff_t>(2 * count));
    Axes places;
    Axes position(2 * count, 0);
    for (int64_t i = 0; i < ir::element_count(places_shape); ++i) {
        for (size_t d = 0; d < count; ++d)
            places.push_back(position[d] * steps[d] + position[count + d] * dilations[d]);
        for (size_t d = 2 * count; d-- > 0;) {
            if (++position[d] < places_shape[d]) break;
            position[d] = 0;
        }
    }
    Shape indices = places_shape;
    indices.push_back(static_cast<int64_t>(count));
    Shape whole = lengths;
    whole.insert(whole.end(), x[0].shape.begin(),
                 x[0].shape.begin() + static_cast<std::ptrdiff_t>(lead));
    const Written zeros = out.broadcast(out.scalar(x[0].dtype, 0), whole);
    const Written added =
        out.add("ScatterND", {zeros, out.integers(std::move(places), std::move(indices)), update},
                {x[0].dtype, whole}, {text_attribute("reduction", "add")});
    for (size_t d = 0; d < lead; ++d) order_back.push_back(static_cast<int64_t>(count + d));
    for (size_t d = 0; d < count; ++d) order_back.push_back(static_cast<int64_t>(d));
    return {out.transpose(added, order_back)};
}

ManyWritten iota(GraphSaver& saver, const Node& node, const ManyWritten&) {
    const Shape& shape = node.types()[0].shape;
    const auto axis = static_cast<size_t>(node.attributes().get<int64_t>("axis"));
    Axes numbers(static_cast<size_t>(shape[axis]));
    std::iota(numbers.begin(), numbers.end(), 0);
    Shape line(shape.size(), 1);
    line[axis] = shape[axis];
    return {saver.out.broadcast(saver.out.integers(std::move(numbers), line), shape)};
}

}  // namespace

void add_layout_rules(SaveRules& rules) {
    rules["reshape"] = [](GraphSaver& saver, const Node& node, const ManyWritten& x) {
        return ManyWritten{saver.out.reshape(x[0], axes_of(node, "shape"))};
    };
    rules["transpose"] = [](GraphSaver& saver, const Node& node, const ManyWritten& x) {
        return ManyWritten{saver.out.transpose(x[0], axes_of(node, "axes"))};
    };
    rules["broadcast_to"] = [](GraphSaver& saver, const Node& node, const ManyWritten& x) {
        return ManyWritten{saver.out.broadcast(x[0], axes_of(node, "shape"))};
    };
    rules["slice"] = [](GraphSaver& saver, const Node& node, const ManyWritten& x) {
        return ManyWritten{saver.out.slice(x[0], axes_of(node, "starts"), axes_of(node, "lengths"),
                                           axes_of(node, "steps"))};
    };
    rules["concatenate"] = [](GraphSaver& saver, const Node& node, const ManyWritten& x) {
        return ManyWritten{
            saver.out.add("Concat", x, {node.types()[0].dtype, node.types()[0].shape},
                          {integer_attribute("axis", node.attributes().get<int64_t>("axis"))})};
    };
    rules["split"] = split;
    rules["pad"] = pad;
    rules["windows"] = windows;
    rules["fold"] = fold;
    rules["iota"] = iota;
    // Values that are passed on: where they lie, when they are computed and what their gradients
    // are is no matter of ONNX's.
    for (const char* name : {"transfer", "stop_gradient", "refuse_gradient"})
        rules[name] = passed_on;
    // Their second operand is the value.
    rules["gradient_where"] = rules["with_values"] =
        [](GraphSaver&, const Node&, const ManyWritten& x) { return ManyWritten{x[1]}; };
    rules["after"] = [](GraphSaver&, const Node& node, const ManyWritten& x) {
        return ManyWritten(x.begin(), x.begin() + node.output_count());
    };
}

}  // namespace composit::onnx::saving
