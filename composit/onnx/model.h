// What an ONNX file says, as plain structs: a model, its graph, nodes, attributes, tensors.
//
// Names follow onnx.proto. Nothing here is checked against an operator's definition.
#pragma once

#include "composit/onnx/element_type.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace composit::onnx {

struct Graph;

// A length that is known, or has a name, or neither.
struct Dimension {
    std::optional<int64_t> value;
    std::string name;
};

struct Type {
    enum class Kind { unknown, tensor, sequence, optional, map, sparse_tensor, opaque };
    Kind kind = Kind::unknown;
    ElementType element = ElementType::undefined;  // of tensors
    std::optional<std::vector<Dimension>> shape;   // of tensors; nothing: unknown
    std::shared_ptr<const Type> inner;             // of sequences and optionals
};

struct ValueInfo {
    std::string name;
    Type type;
};

// A constant tensor. Its elements are in `raw`, in one of the lists, or in a file beside the model.
struct TensorData {
    std::string name;
    ElementType element = ElementType::undefined;
    std::vector<int64_t> dims;
    std::string_view raw;  // bytes of Model::content, little-endian
    bool has_raw = false;
    std::vector<float> floats;
    std::vector<double> doubles;
    std::vector<int64_t> integers;  // int32_data, int64_data and uint64_data
    std::vector<std::string> strings;
    std::map<std::string, std::string> external;  // location, offset, length
    bool is_external = false;
};

struct SparseTensorData {
    TensorData values, indices;
    std::vector<int64_t> dims;
};

struct Attribute {
    enum class Kind : int64_t {
        undefined = 0,
        number = 1,
        integer = 2,
        text = 3,
        tensor = 4,
        graph = 5,
        numbers = 6,
        integers = 7,
        texts = 8,
        tensors = 9,
        graphs = 10,
        sparse_tensor = 11,
        sparse_tensors = 12,
        type = 13,
        types = 14,
    };
    std::string name;
    Kind kind = Kind::undefined;
    std::string reference;  // the attribute of the function around, which this one has the value of
    float number = 0;
    int64_t integer = 0;
    std::string text;
    std::vector<float> numbers;
    std::vector<int64_t> integers;
    std::vector<std::string> texts;
    std::shared_ptr<const TensorData> tensor;
    std::shared_ptr<const SparseTensorData> sparse_tensor;
    std::shared_ptr<const Graph> graph;
    std::shared_ptr<const Type> type;
};

struct Node {
    std::string name, operation, domain, overload, doc;
    std::vector<std::string> inputs, outputs;  // an empty name: left out
    std::vector<Attribute> attributes;
};

struct Graph {
    std::string name;
    std::vector<Node> nodes;
    std::vector<TensorData> initializers;
    std::vector<SparseTensorData> sparse_initializers;
    std::vector<ValueInfo> inputs, outputs, value_info;
};

// Versions of the operators' sets by domain; "ai.onnx" is "".
using Opsets = std::map<std::string, int64_t>;

struct Function {
    std::string name, domain, overload;
    std::vector<std::string> inputs, outputs, attributes;
    std::vector<Attribute> defaults;
    std::vector<Node> nodes;
    Opsets opsets;
};

struct Model {
    int64_t ir_version = 0;
    std::string producer_name, producer_version;
    Opsets opsets;
    Graph graph;
    std::vector<Function> functions;
    std::map<std::string, std::string> metadata;
    std::shared_ptr<const std::string> content;  // the file's bytes, which tensors point into
    std::filesystem::path folder;                // where external data lies
};

// The model in a file, at most 2 GiB, as protobuf's are. FileNotFound, InputOutputError;
// ValueError, naming the byte, where it is not in ONNX's format.
[[nodiscard]] Model read_model(const std::filesystem::path& path);
// The same of the file's bytes. External data is looked for in `folder`.
[[nodiscard]] Model read_model_bytes(std::string content, const std::filesystem::path& folder = {});

// The bytes of a file with that model: IR version, producer, opsets and the graph, whose tensors
// have `raw` elements. ValueError beyond 2 GiB.
[[nodiscard]] std::string write_model(const Model& model);

// The elements of a tensor that has no strings; small types in their carriers. ValueError where
// there are not as many as its dims say, or external data lies outside the model's folder.
[[nodiscard]] ir::Array array_of(const TensorData& tensor, const std::filesystem::path& folder);
// The same of a sparse tensor, with zeros where it says nothing.
[[nodiscard]] ir::Array array_of(const SparseTensorData& tensor,
                                 const std::filesystem::path& folder);

}  // namespace composit::onnx
