// Files in ONNX's format, as the structs of model.h. Field numbers are those of onnx.proto.
#include "composit/base/error.h"
#include "composit/base/mapped_file.h"
#include "composit/onnx/model.h"
#include "composit/onnx/wire.h"

namespace composit::onnx {
namespace {

// "ai.onnx" is the name of the domain "".
std::string domain_of(std::string name) { return name == "ai.onnx" ? std::string() : name; }

ElementType read_element(WireReader& in) {
    const int64_t number = in.integer();
    const auto type = element_type(number);
    if (!type) in.fail(text("there is the element type ", number), "One of ONNX's element types");
    return *type;
}

std::pair<std::string, std::string> read_entry(WireReader in) {
    std::pair<std::string, std::string> entry;
    while (in.next()) switch (in.field()) {
            case 1: entry.first = in.text(); break;
            case 2: entry.second = in.text(); break;
            default: in.skip();
        }
    return entry;
}

TensorData read_tensor(WireReader in) {
    TensorData tensor;
    while (in.next()) switch (in.field()) {
            case 1: in.append(tensor.dims); break;
            case 2: tensor.element = read_element(in); break;
            case 3: in.fail("a tensor is cut into segments", "A tensor in one piece");
            case 4: in.append(tensor.floats); break;
            case 5:
            case 7:
            case 11: in.append(tensor.integers); break;
            case 6: tensor.strings.push_back(in.text()); break;
            case 8: tensor.name = in.text(); break;
            case 9:
                tensor.raw = in.bytes();
                tensor.has_raw = true;
                break;
            case 10: in.append(tensor.doubles); break;
            case 13: tensor.external.insert(read_entry(in.message())); break;
            case 14: tensor.is_external = in.integer() == 1; break;
            default: in.skip();
        }
    return tensor;
}

SparseTensorData read_sparse_tensor(WireReader in) {
    SparseTensorData tensor;
    while (in.next()) switch (in.field()) {
            case 1: tensor.values = read_tensor(in.message()); break;
            case 2: tensor.indices = read_tensor(in.message()); break;
            case 3: in.append(tensor.dims); break;
            default: in.skip();
        }
    return tensor;
}

Dimension read_dimension(WireReader in) {
    Dimension dimension;
    while (in.next()) switch (in.field()) {
            case 1: dimension.value = in.integer(); break;
            case 2: dimension.name = in.text(); break;
            default: in.skip();
        }
    return dimension;
}

std::vector<Dimension> read_shape(WireReader in) {
    std::vector<Dimension> shape;
    while (in.next()) {
        if (in.field() == 1)
            shape.push_back(read_dimension(in.message()));
        else
            in.skip();
    }
    return shape;
}

void read_tensor_type(WireReader in, Type& type) {
    while (in.next()) switch (in.field()) {
            case 1: type.element = read_element(in); break;
            case 2: type.shape = read_shape(in.message()); break;
            default: in.skip();
        }
}

Type read_type(WireReader in);

void read_inner_type(WireReader in, Type& type) {
    while (in.next()) {
        if (in.field() == 1)
            type.inner = std::make_shared<const Type>(read_type(in.message()));
        else
            in.skip();
    }
}

Type read_type(WireReader in) {
    Type type;
    while (in.next()) switch (in.field()) {
            case 1:
                type.kind = Type::Kind::tensor;
                read_tensor_type(in.message(), type);
                break;
            case 4:
                type.kind = Type::Kind::sequence;
                read_inner_type(in.message(), type);
                break;
            case 5:
                type.kind = Type::Kind::map;
                in.skip();
                break;
            case 7:
                type.kind = Type::Kind::opaque;
                in.skip();
                break;
            case 8:
                type.kind = Type::Kind::sparse_tensor;
                read_tensor_type(in.message(), type);
                break;
            case 9:
                type.kind = Type::Kind::optional;
                read_inner_type(in.message(), type);
                break;
            default: in.skip();
        }
    return type;
}

ValueInfo read_value_info(WireReader in) {
    ValueInfo info;
    while (in.next()) switch (in.field()) {
            case 1: info.name = in.text(); break;
            case 2: info.type = read_type(in.message()); break;
            default: in.skip();
        }
    return info;
}

Graph read_graph(WireReader in);

// The kind of an attribute of files that do not say it, as those of the first versions.
Attribute::Kind kind_of(const Attribute& attribute, Attribute::Kind field) {
    using Kind = Attribute::Kind;
    if (attribute.kind != Kind::undefined) return attribute.kind;
    if (!attribute.integers.empty()) return Kind::integers;
    if (!attribute.numbers.empty()) return Kind::numbers;
    if (!attribute.texts.empty()) return Kind::texts;
    return field;
}

Attribute read_attribute(WireReader in) {
    using Kind = Attribute::Kind;
    Attribute attribute;
    Kind field = Kind::undefined;
    while (in.next()) switch (in.field()) {
            case 1: attribute.name = in.text(); break;
            case 2:
                attribute.number = in.number();
                field = Kind::number;
                break;
            case 3:
                attribute.integer = in.integer();
                field = Kind::integer;
                break;
            case 4:
                attribute.text = in.text();
                field = Kind::text;
                break;
            case 5:
                attribute.tensor = std::make_shared<const TensorData>(read_tensor(in.message()));
                field = Kind::tensor;
                break;
            case 6:
                attribute.graph = std::make_shared<const Graph>(read_graph(in.message()));
                field = Kind::graph;
                break;
            case 7: in.append(attribute.numbers); break;
            case 8: in.append(attribute.integers); break;
            case 9: attribute.texts.push_back(in.text()); break;
            case 14:
                attribute.type = std::make_shared<const Type>(read_type(in.message()));
                field = Kind::type;
                break;
            case 20: attribute.kind = static_cast<Kind>(in.integer()); break;
            case 21: attribute.reference = in.text(); break;
            case 22:
                attribute.sparse_tensor =
                    std::make_shared<const SparseTensorData>(read_sparse_tensor(in.message()));
                field = Kind::sparse_tensor;
                break;
            default: in.skip();
        }
    attribute.kind = kind_of(attribute, field);
    return attribute;
}

Node read_node(WireReader in) {
    Node node;
    while (in.next()) switch (in.field()) {
            case 1: node.inputs.push_back(in.text()); break;
            case 2: node.outputs.push_back(in.text()); break;
            case 3: node.name = in.text(); break;
            case 4: node.operation = in.text(); break;
            case 5: node.attributes.push_back(read_attribute(in.message())); break;
            case 6: node.doc = in.text(); break;
            case 7: node.domain = domain_of(in.text()); break;
            case 8: node.overload = in.text(); break;
            default: in.skip();
        }
    return node;
}

Graph read_graph(WireReader in) {
    Graph graph;
    while (in.next()) switch (in.field()) {
            case 1: graph.nodes.push_back(read_node(in.message())); break;
            case 2: graph.name = in.text(); break;
            case 5: graph.initializers.push_back(read_tensor(in.message())); break;
            case 11: graph.inputs.push_back(read_value_info(in.message())); break;
            case 12: graph.outputs.push_back(read_value_info(in.message())); break;
            case 13: graph.value_info.push_back(read_value_info(in.message())); break;
            case 15: graph.sparse_initializers.push_back(read_sparse_tensor(in.message())); break;
            default: in.skip();
        }
    return graph;
}

void read_opset(WireReader in, Opsets& opsets) {
    std::string domain;
    int64_t version = 0;
    while (in.next()) switch (in.field()) {
            case 1: domain = domain_of(in.text()); break;
            case 2: version = in.integer(); break;
            default: in.skip();
        }
    opsets[domain] = version;
}

Function read_function(WireReader in) {
    Function function;
    while (in.next()) switch (in.field()) {
            case 1: function.name = in.text(); break;
            case 4: function.inputs.push_back(in.text()); break;
            case 5: function.outputs.push_back(in.text()); break;
            case 6: function.attributes.push_back(in.text()); break;
            case 7: function.nodes.push_back(read_node(in.message())); break;
            case 9: read_opset(in.message(), function.opsets); break;
            case 10: function.domain = domain_of(in.text()); break;
            case 11: function.defaults.push_back(read_attribute(in.message())); break;
            case 13: function.overload = in.text(); break;
            default: in.skip();
        }
    return function;
}

Model model_of(const std::string& where, std::string content) {
    Model model;
    model.content = std::make_shared<const std::string>(std::move(content));
    WireReader in(where, *model.content);
    bool has_graph = false;
    while (in.next()) switch (in.field()) {
            case 1: model.ir_version = in.integer(); break;
            case 2: model.producer_name = in.text(); break;
            case 3: model.producer_version = in.text(); break;
            case 7:
                model.graph = read_graph(in.message());
                has_graph = true;
                break;
            case 8: read_opset(in.message(), model.opsets); break;
            case 14: model.metadata.insert(read_entry(in.message())); break;
            case 25: model.functions.push_back(read_function(in.message())); break;
            default: in.skip();
        }
    user_check(has_graph, where, ": there is no graph. A model in ONNX's format is required.");
    // Files before version 3 of the format name no opset.
    if (model.opsets.empty()) model.opsets[""] = 1;
    return model;
}

}  // namespace

Model read_model(const std::filesystem::path& path) {
    constexpr size_t most = size_t{1} << 31;
    const std::string where = text("onnx.load: ", path.filename().string());
    Model model = model_of(where, read_whole_file(where + ": ", path, most));
    model.folder = path.parent_path();
    if (model.folder.empty()) model.folder = ".";
    return model;
}

Model read_model_bytes(std::string content, const std::filesystem::path& folder) {
    Model model = model_of("onnx.load", std::move(content));
    model.folder = folder;
    return model;
}

}  // namespace composit::onnx
