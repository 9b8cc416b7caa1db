// Calls of bodies, pools and loops.
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/onnx/save_rules.h"
#include "composit/ops/ops.h"
#include "composit/transforms/loop.h"

namespace composit::onnx::saving {
namespace {

using ir::Tensor;
using Axes = std::vector<int64_t>;

ManyWritten max_pool(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    const ir::Attributes& a = node.attributes();
    const ir::TensorType& type = node.types()[0];
    Axes pads = a.get<Axes>("padding");
    const Axes& behind = a.get<Axes>("padding_high");
    pads.insert(pads.end(), behind.begin(), behind.end());
    const bool is_taken =
        ir::is_floating(type.dtype) || type.dtype == DType::int8 || type.dtype == DType::uint8;
    if (!is_taken) {
        const std::vector<Tensor> others = node.operation().decompose(node);
        return {saver.in_place_of(others[0])};
    }
    return {saver.out.add(
        "MaxPool", {x[0]}, {type.dtype, type.shape},
        {integers_attribute("kernel_shape", a.get<Axes>("window")),
         integers_attribute("strides", a.get<Axes>("strides")), integers_attribute("pads", pads),
         integers_attribute("dilations", a.get<Axes>("dilation"))})};
}

ManyWritten call(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    const ir::Body& body = *node.attributes().get<std::shared_ptr<const ir::Body>>("body");
    const ir::TensorType& type = node.types()[0];
    if (const Node* sum = mean_of(body)) {
        const Axes& axes = sum->attributes().get<Axes>("axes");
        if (!axes.empty())
            return {saver.out.add(
                "ReduceMean", {x[0], saver.out.integers(axes)}, {type.dtype, type.shape},
                {integer_attribute("keepdims", sum->attributes().get<bool>("keepdims") ? 1 : 0)})};
    }
    return saver.inlined(body, x);
}

// The body reads what is the same in all iterations from the graph around.
ManyWritten loop(GraphSaver& saver, const Node& node, const ManyWritten& x) {
    GraphWriter& out = saver.out;
    const transforms::LoopParts parts(node);
    const Written count =
        out.constant(ir::Array::of<int64_t>(DType::int64, {}, {parts.iterations()}));
    const Written always = out.constant(ir::Array::scalar(DType::boolean, 1));
    const Written begin = out.constant(ir::Array::of<int64_t>(DType::int64, {}, {parts.begin}));
    out.begin_body();
    const Written turn = out.input("iteration", DType::int64, {});
    const Written goes_on = out.input("goes_on", DType::boolean, {});
    ManyWritten arguments{parts.begin == 0 ? turn : out.binary("Add", turn, begin)};
    for (size_t k = 0; k < parts.operands(); ++k) {
        const Tensor& parameter = parts.parameter(k);
        arguments.push_back(k < parts.states
                                ? out.input(parameter.name().empty() ? "state" : parameter.name(),
                                            parameter.dtype(), parameter.shape())
                                : x[k]);
    }
    ManyWritten results{goes_on};
    for (Written& result : saver.inlined(parts.body, arguments)) results.push_back(result);
    const Attribute body = out.end_body("body", results);
    ManyWritten inputs{count, always};
    inputs.insert(inputs.end(), x.begin(), x.begin() + static_cast<std::ptrdiff_t>(parts.states));
    std::vector<OutputType> types;
    for (const ir::TensorType& type : node.types()) types.push_back({type.dtype, type.shape});
    return out.add_all("Loop", inputs, types, {body});
}

}  // namespace

void add_layer_rules(SaveRules& rules) {
    rules["max_pool"] = max_pool;
    rules["call"] = call;
    rules["loop"] = loop;
}

}  // namespace composit::onnx::saving
