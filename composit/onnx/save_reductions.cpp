// Reductions and running folds.
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/onnx/save_rules.h"
#include "composit/ops/combiner_of.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::onnx::saving {
namespace {

using ir::kernel::Combiner;
using Axes = std::vector<int64_t>;

const char* operator_of(Combiner combiner) {
    switch (combiner) {
        case Combiner::sum: return "ReduceSum";
        case Combiner::product: return "ReduceProd";
        case Combiner::maximum:
        case Combiner::any: return "ReduceMax";
        case Combiner::minimum:
        case Combiner::all: return "ReduceMin";
        case Combiner::argmax: return "ArgMax";
        case Combiner::argmin: return "ArgMin";
    }
    return "";
}

// The first place of an extremum along one axis: that of several ones is found along all in a row.
Written position(GraphWriter& out, const Node& node, const Written& x, const Axes& axes) {
    Axes order;
    for (int64_t d = 0; d < x.rank(); ++d)
        if (std::find(axes.begin(), axes.end(), d) == axes.end()) order.push_back(d);
    Shape kept;
    for (const int64_t d : order) kept.push_back(x.shape[static_cast<size_t>(d)]);
    order.insert(order.end(), axes.begin(), axes.end());
    Shape flat = kept;
    flat.push_back(ir::element_count(x.shape) / std::max<int64_t>(1, ir::element_count(kept)));
    const Written rows = out.reshape(out.transpose(x, order), flat);
    const Written found =
        out.add(operator_of(ops::combiner_of(node)), {rows}, {DType::int64, kept},
                {integer_attribute("axis", -1), integer_attribute("keepdims", 0)});
    return out.reshape(found, node.types()[0].shape);
}

ManyWritten reduce(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    GraphWriter& out = saver.out;
    const Axes& axes = node.attributes().get<Axes>("axes");
    const Combiner combiner = ops::combiner_of(node);
    const DType dtype = node.types()[0].dtype;
    const bool is_truth = combiner == Combiner::any || combiner == Combiner::all;
    Written value = x[0];
    if (is_truth) value = out.cast(value, DType::boolean);
    // ONNX reduces no bools, but from opset 20 on.
    if (value.dtype == DType::boolean) value = out.cast(value, DType::int32);
    if (ir::kernel::finds_position(combiner)) return {position(out, node, value, axes)};
    if (axes.empty()) return {out.cast(value, dtype)};
    const bool keepdims = node.attributes().get<bool>("keepdims");
    const Written result = out.add(operator_of(combiner), {value, out.integers(axes)},
                                   {value.dtype, node.types()[0].shape},
                                   {integer_attribute("keepdims", keepdims ? 1 : 0)});
    return {out.cast(result, dtype)};
}

ManyWritten scan(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    GraphWriter& out = saver.out;
    const Combiner combiner = ops::combiner_of(node);
    const int64_t axis = node.attributes().get<int64_t>("axis");
    if (combiner == Combiner::sum)
        return {out.add("CumSum",
                        {x[0], out.constant(ir::Array::of<int64_t>(DType::int64, {}, {axis}))},
                        {x[0].dtype, x[0].shape})};
    // Each step joins what lies `reach` before, and there are log2(length) of them.
    const char* const operation = combiner == Combiner::product   ? "Mul"
                                  : combiner == Combiner::maximum ? "Max"
                                                                  : "Min";
    const auto along = static_cast<size_t>(axis);
    const int64_t length = x[0].shape[along];
    Written value = x[0];
    const Axes none(x[0].shape.size(), 0), ones(x[0].shape.size(), 1);
    for (int64_t reach = 1; reach < length; reach *= 2) {
        Axes first_lengths = value.shape, rest_starts = none, rest_lengths = value.shape,
             before_lengths = value.shape;
        first_lengths[along] = reach;
        rest_starts[along] = reach;
        rest_lengths[along] = before_lengths[along] = length - reach;
        const Written first = out.slice(value, none, first_lengths, ones);
        const Written joined = out.binary(operation, out.slice(value, none, before_lengths, ones),
                                          out.slice(value, rest_starts, rest_lengths, ones));
        value = out.add("Concat", {first, joined}, {value.dtype, value.shape},
                        {integer_attribute("axis", axis)});
    }
    return {value};
}

}  // namespace

void add_reduction_rules(SaveRules& rules) {
    rules["reduce"] = reduce;
    rules["scan"] = scan;
}

}  // namespace composit::onnx::saving
