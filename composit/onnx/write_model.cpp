// Models as bytes: the fields of onnx.proto, by number.
#include "composit/base/error.h"
#include "composit/onnx/model.h"
#include "composit/onnx/wire.h"

namespace composit::onnx {
namespace {

WireWriter written(const Graph& graph);

WireWriter written(const TensorData& tensor) {
    WireWriter out;
    if (!tensor.dims.empty()) out.integers(1, tensor.dims);
    out.integer(2, static_cast<int64_t>(tensor.element));
    out.text(8, tensor.name);
    out.text(9, tensor.raw);
    return out;
}

WireWriter written(const Type& type) {
    WireWriter shape;
    for (const Dimension& each : *type.shape) {
        WireWriter dimension;
        if (each.value)
            dimension.integer(1, *each.value);
        else
            dimension.text(2, each.name);
        shape.message(1, dimension);
    }
    WireWriter tensor, out;
    tensor.integer(1, static_cast<int64_t>(type.element));
    tensor.message(2, shape);
    out.message(1, tensor);
    return out;
}

WireWriter written(const ValueInfo& info) {
    WireWriter out;
    out.text(1, info.name);
    out.message(2, written(info.type));
    return out;
}

WireWriter written(const Attribute& attribute) {
    using Kind = Attribute::Kind;
    WireWriter out;
    out.text(1, attribute.name);
    switch (attribute.kind) {
        case Kind::number: out.number(2, attribute.number); break;
        case Kind::integer: out.integer(3, attribute.integer); break;
        case Kind::text: out.text(4, attribute.text); break;
        case Kind::tensor: out.message(5, written(*attribute.tensor)); break;
        case Kind::graph: out.message(6, written(*attribute.graph)); break;
        case Kind::numbers: out.numbers(7, attribute.numbers); break;
        case Kind::integers: out.integers(8, attribute.integers); break;
        case Kind::texts:
            for (const std::string& each : attribute.texts) out.text(9, each);
            break;
        default:
            internal_check(false, "an attribute of kind ", static_cast<int64_t>(attribute.kind),
                           " is to be written");
    }
    out.integer(20, static_cast<int64_t>(attribute.kind));
    return out;
}

WireWriter written(const Node& node) {
    WireWriter out;
    for (const std::string& each : node.inputs) out.text(1, each);
    for (const std::string& each : node.outputs) out.text(2, each);
    out.text(3, node.name);
    out.text(4, node.operation);
    for (const Attribute& each : node.attributes) out.message(5, written(each));
    if (!node.doc.empty()) out.text(6, node.doc);
    if (!node.domain.empty()) out.text(7, node.domain);
    return out;
}

WireWriter written(const Graph& graph) {
    WireWriter out;
    for (const Node& each : graph.nodes) out.message(1, written(each));
    out.text(2, graph.name);
    for (const TensorData& each : graph.initializers) out.message(5, written(each));
    for (const ValueInfo& each : graph.inputs) out.message(11, written(each));
    for (const ValueInfo& each : graph.outputs) out.message(12, written(each));
    return out;
}

}  // namespace

std::string write_model(const Model& model) {
    WireWriter out;
    out.integer(1, model.ir_version);
    out.text(2, model.producer_name);
    out.text(3, model.producer_version);
    out.message(7, written(model.graph));
    for (const auto& [domain, version] : model.opsets) {
        WireWriter opset;
        opset.text(1, domain);
        opset.integer(2, version);
        out.message(8, opset);
    }
    const int64_t bytes = static_cast<int64_t>(out.content().size());
    user_check(bytes < int64_t{1} << 31, "onnx.save: the model has ", bytes,
               " bytes. Less than 2 GiB are required, as protobuf has no longer messages.");
    return out.take();
}

}  // namespace composit::onnx
