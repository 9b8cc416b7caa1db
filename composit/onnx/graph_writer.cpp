// Nodes, names and constants of an ONNX graph that is being written.
#include "composit/onnx/graph_writer.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cctype>
#include <limits>
#include <numeric>
#include <optional>

namespace composit::onnx {
namespace {

constexpr int64_t most_bytes_of_small = 256;

Type type_of(DType dtype, const Shape& shape) {
    Type type;
    type.kind = Type::Kind::tensor;
    type.element = element_type(dtype);
    type.shape.emplace();
    for (const int64_t length : shape) type.shape->push_back({length, ""});
    return type;
}

std::string lower(std::string_view name) {
    std::string result;
    for (const char c : name) {
        if (std::isupper(static_cast<unsigned char>(c)) && !result.empty() &&
            std::islower(static_cast<unsigned char>(result.back())))
            result += '_';
        result += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return result;
}

// The version of the file format that an opset came with.
int64_t ir_version_of(int64_t opset) {
    constexpr std::pair<int64_t, int64_t> first[] = {{18, 8},  {19, 9},  {21, 10}, {23, 11},
                                                     {24, 12}, {25, 13}, {28, 14}};
    int64_t version = 8;
    for (const auto& [from, its] : first)
        if (opset >= from) version = its;
    return version;
}

// Names that a node reads, those of the graphs within it among them.
void add_reads(const Node& node, std::set<std::string>& names) {
    names.insert(node.inputs.begin(), node.inputs.end());
    for (const Attribute& attribute : node.attributes) {
        if (!attribute.graph) continue;
        for (const Node& inner : attribute.graph->nodes) add_reads(inner, names);
        for (const ValueInfo& output : attribute.graph->outputs) names.insert(output.name);
    }
}

void remove_unread(Graph& graph, std::set<std::string> read) {
    for (const ValueInfo& output : graph.outputs) read.insert(output.name);
    std::vector<Node> kept;
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
        const bool is_read = std::any_of(node->outputs.begin(), node->outputs.end(),
                                         [&](const std::string& name) { return read.count(name); });
        if (!is_read) continue;
        add_reads(*node, read);
        kept.push_back(std::move(*node));
    }
    std::reverse(kept.begin(), kept.end());
    graph.nodes = std::move(kept);
    std::erase_if(graph.initializers,
                  [&](const TensorData& tensor) { return !read.count(tensor.name); });
}

void rename(Graph& graph, const std::map<std::string, std::string>& names) {
    const auto change = [&](std::string& name) {
        const auto found = names.find(name);
        if (found != names.end()) name = found->second;
    };
    for (Node& node : graph.nodes) {
        for (std::string& name : node.inputs) change(name);
        for (std::string& name : node.outputs) change(name);
        for (Attribute& attribute : node.attributes) {
            if (!attribute.graph) continue;
            Graph inner = *attribute.graph;
            rename(inner, names);
            for (ValueInfo& output : inner.outputs) change(output.name);
            attribute.graph = std::make_shared<const Graph>(std::move(inner));
        }
    }
}

}  // namespace

Attribute integer_attribute(std::string name, int64_t value) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.kind = Attribute::Kind::integer;
    attribute.integer = value;
    return attribute;
}

Attribute integers_attribute(std::string name, std::vector<int64_t> values) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.kind = Attribute::Kind::integers;
    attribute.integers = std::move(values);
    return attribute;
}

Attribute number_attribute(std::string name, double value) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.kind = Attribute::Kind::number;
    attribute.number = static_cast<float>(value);
    return attribute;
}

Attribute text_attribute(std::string name, std::string value) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.kind = Attribute::Kind::text;
    attribute.text = std::move(value);
    return attribute;
}

void GraphWriter::set_origin(std::string part, std::string line) {
    part_ = std::move(part);
    line_ = std::move(line);
}

std::string GraphWriter::unique(std::string_view name) {
    std::string result(name.empty() ? "value" : name);
    while (!names_.insert(result).second)
        result = composit::text(name, "_", ++counts_[std::string(name)]);
    return result;
}

namespace {

// The opset from which an operator of ONNX takes floats of 8 bits; none: no operator of that name
// does.
std::optional<int64_t> small_floats_since(std::string_view operation) {
    constexpr std::pair<std::string_view, int64_t> table[] = {
        {"Cast", 19},    {"Constant", 19}, {"Identity", 19},  {"If", 19},       {"Loop", 19},
        {"Reshape", 19}, {"Squeeze", 21},  {"Transpose", 21}, {"Unsqueeze", 21}};
    for (const auto& [name, since] : table)
        if (name == operation) return since;
    return {};
}

template <class Typed>
std::vector<DType> dtypes_of(const std::vector<Typed>& values) {
    std::vector<DType> found;
    for (const Typed& value : values) found.push_back(value.dtype);
    return found;
}

}  // namespace

Written GraphWriter::add(std::string_view operation, const ManyWritten& inputs, OutputType type,
                         std::vector<Attribute> attributes, int64_t since) {
    return add_all(operation, inputs, {std::move(type)}, std::move(attributes), since)[0];
}

ManyWritten GraphWriter::add_all(std::string_view operation, const ManyWritten& inputs,
                                 const std::vector<OutputType>& types,
                                 std::vector<Attribute> attributes, int64_t since) {
    std::string_view what;  // of floats of 8 bits, where there are any
    for (const auto& some : {dtypes_of(inputs), dtypes_of(types)})
        for (const DType dtype : some) {
            if (!small_float(element_type(dtype))) continue;
            const std::optional<int64_t> first = small_floats_since(operation);
            user_check<NotSupported>(first.has_value(), "onnx.save: ", operation, " of ", dtype,
                                     " is not in ONNX. Convert to float32 before",
                                     line_.empty() ? "" : " (" + line_ + ")", ".");
            since = std::max(since, *first);
            what = " of floats of 8 bits";
        }
    user_check<NotSupported>(may_use(since), "onnx.save: ", operation, what,
                             " is an operator of opset ", since, "; opset ", most_,
                             " was asked for. Opset ", since, " or a later one is required",
                             line_.empty() ? "" : " (" + line_ + ")", ".");
    used_ = std::max(used_, since);
    Node node;
    node.operation = operation;
    for (const Written& input : inputs) node.inputs.push_back(input.name);
    ManyWritten results;
    for (const OutputType& type : types) {
        results.push_back({unique(lower(operation)), type.dtype, type.shape});
        node.outputs.push_back(results.back().name);
    }
    node.name = part_.empty() ? node.outputs[0] : part_ + "/" + node.outputs[0];
    node.doc = line_;
    node.attributes = std::move(attributes);
    graph().nodes.push_back(std::move(node));
    return results;
}

Written GraphWriter::unary(std::string_view operation, const Written& x, int64_t since) {
    return add(operation, {x}, {x.dtype, x.shape}, {}, since);
}

Written GraphWriter::binary(std::string_view operation, const Written& a, const Written& b,
                            int64_t since) {
    return add(operation, {a, b}, {a.dtype, ops::broadcast_shapes(operation, {a.shape, b.shape})},
               {}, since);
}

Written GraphWriter::compare(std::string_view operation, const Written& a, const Written& b) {
    return add(operation, {a, b},
               {DType::boolean, ops::broadcast_shapes(operation, {a.shape, b.shape})});
}

Written GraphWriter::where(const Written& condition, const Written& chosen, const Written& other) {
    return add("Where", {condition, chosen, other},
               {chosen.dtype,
                ops::broadcast_shapes("Where", {condition.shape, chosen.shape, other.shape})});
}

Written GraphWriter::with_operand(const Written& x, const Written& operand) {
    const auto made = std::find_if(graph().nodes.rbegin(), graph().nodes.rend(),
                                   [&](const Node& node) { return node.outputs[0] == x.name; });
    internal_check(made != graph().nodes.rend(), "no node made ", x.name);
    Node node = *made;
    node.inputs.push_back(operand.name);
    Written result{unique(lower(node.operation)), x.dtype, x.shape};
    node.outputs = {result.name};
    node.name = part_.empty() ? result.name : part_ + "/" + result.name;
    graph().nodes.push_back(std::move(node));
    return result;
}

Written GraphWriter::cast(const Written& x, DType dtype) {
    if (x.dtype == dtype) return x;
    if (const ir::Array* value = value_of(x))
        return constant(execute::evaluate({ops::astype(ir::constant(*value), dtype)})[0]);
    const ElementType to = element_type(dtype);
    std::vector<Attribute> attributes{integer_attribute("to", static_cast<int64_t>(to))};
    // What is too large becomes infinity or NaN here; Cast's default is the greatest number.
    if (small_float(to)) attributes.push_back(integer_attribute("saturate", 0));
    return add("Cast", {x}, {dtype, x.shape}, std::move(attributes));
}

Written GraphWriter::reshape(const Written& x, const Shape& shape) {
    if (x.shape == shape) return x;
    // A length of 0 would mean the one that was there.
    const bool has_zero = std::find(shape.begin(), shape.end(), 0) != shape.end();
    std::vector<Attribute> attributes;
    if (has_zero) attributes.push_back(integer_attribute("allowzero", 1));
    return add("Reshape", {x, integers(shape)}, {x.dtype, shape}, std::move(attributes));
}

Written GraphWriter::transpose(const Written& x, const std::vector<int64_t>& axes) {
    if (std::is_sorted(axes.begin(), axes.end())) return x;
    Shape shape;
    for (const int64_t axis : axes) shape.push_back(x.shape[static_cast<size_t>(axis)]);
    return add("Transpose", {x}, {x.dtype, shape}, {integers_attribute("perm", axes)});
}

Written GraphWriter::broadcast(const Written& x, const Shape& shape) {
    if (x.shape == shape) return x;
    return add("Expand", {x, integers(shape)}, {x.dtype, shape});
}

Written GraphWriter::slice(const Written& x, const std::vector<int64_t>& starts,
                           const std::vector<int64_t>& lengths, const std::vector<int64_t>& steps) {
    std::vector<int64_t> from, to, axes, by;
    Shape shape = x.shape;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (starts[d] == 0 && steps[d] == 1 && lengths[d] == shape[d]) continue;
        const int64_t end = starts[d] + steps[d] * lengths[d];
        from.push_back(starts[d]);
        // Before the first element: a number that no length reaches, as -1 is the last.
        to.push_back(end < 0 ? std::numeric_limits<int64_t>::min() : end);
        axes.push_back(static_cast<int64_t>(d));
        by.push_back(steps[d]);
        shape[d] = lengths[d];
    }
    if (axes.empty()) return x;
    return add("Slice", {x, integers(from), integers(to), integers(axes), integers(by)},
               {x.dtype, shape});
}

Written GraphWriter::pad(const Written& x, const Written& filler, const std::vector<int64_t>& low,
                         const std::vector<int64_t>& high) {
    std::vector<int64_t> starts, lengths, pads;
    Shape padded;
    for (size_t d = 0; d < x.shape.size(); ++d) {
        starts.push_back(std::max<int64_t>(0, -low[d]));
        lengths.push_back(x.shape[d] - starts.back() - std::max<int64_t>(0, -high[d]));
        padded.push_back(x.shape[d] + low[d] + high[d]);
        pads.push_back(std::max<int64_t>(0, low[d]));
    }
    // More may be cut off than there is: what is left is filler.
    for (size_t d = 0; d < x.shape.size(); ++d)
        if (lengths[d] < 0) {
            starts[d] = 0;
            lengths[d] = 0;
            pads[d] = padded[d];
        }
    const Written cut = slice(x, starts, lengths, std::vector<int64_t>(x.shape.size(), 1));
    for (size_t d = 0; d < x.shape.size(); ++d) pads.push_back(padded[d] - cut.shape[d] - pads[d]);
    if (cut.shape == padded) return cut;
    return add("Pad", {cut, integers(pads), filler}, {x.dtype, padded});
}

Written GraphWriter::gather(const Written& x, const Written& indices, int64_t axis) {
    Shape shape(x.shape.begin(), x.shape.begin() + axis);
    shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
    shape.insert(shape.end(), x.shape.begin() + axis + 1, x.shape.end());
    return add("Gather", {x, indices}, {x.dtype, shape}, {integer_attribute("axis", axis)});
}

Written GraphWriter::input(std::string_view name, DType dtype, const Shape& shape) {
    Written made{unique(name), dtype, shape};
    graph().inputs.push_back({made.name, type_of(dtype, shape)});
    return made;
}

Written GraphWriter::constant(const ir::Array& value, std::string_view name) {
    std::string key;
    if (value.bytes() <= most_bytes_of_small) {
        key = composit::text(value.dtype(), name, ":");
        for (const int64_t length : value.shape()) key += composit::text(length, ",");
        key.append(static_cast<const char*>(value.data()), static_cast<size_t>(value.bytes()));
        const auto found = small_constants_.find(key);
        if (found != small_constants_.end()) return {found->second, value.dtype(), value.shape()};
    }
    Written made{unique(name.empty() ? "constant" : name), value.dtype(), value.shape()};
    arrays_.push_back(value);
    places_[made.name] = arrays_.size() - 1;
    TensorData data;
    data.name = made.name;
    data.element = element_type(value.dtype());
    data.dims = value.shape();
    data.raw = {static_cast<const char*>(arrays_.back().data()),
                static_cast<size_t>(value.bytes())};
    data.has_raw = true;
    graphs_.front().initializers.push_back(std::move(data));
    if (!key.empty()) small_constants_[key] = made.name;
    return made;
}

Written GraphWriter::integers(std::vector<int64_t> values, Shape shape) {
    return constant(ir::Array::of(DType::int64, std::move(shape), values));
}

Written GraphWriter::integers(const std::vector<int64_t>& values) {
    return integers(values, {static_cast<int64_t>(values.size())});
}

Written GraphWriter::scalar(DType dtype, double value) {
    return constant(ir::Array::scalar(dtype, value));
}

const ir::Array* GraphWriter::value_of(const Written& x) const {
    const auto found = places_.find(x.name);
    return found == places_.end() ? nullptr : &arrays_[found->second];
}

Attribute GraphWriter::end_body(std::string attribute, const ManyWritten& outputs) {
    ManyWritten copies;
    // A body's outputs are results of its own nodes.
    for (const Written& output : outputs) copies.push_back(unary("Identity", output));
    Graph body = std::move(graphs_.back());
    graphs_.pop_back();
    body.name = unique("body");
    for (const Written& output : copies)
        body.outputs.push_back({output.name, type_of(output.dtype, output.shape)});
    remove_unread(body, {});
    Attribute result;
    result.name = std::move(attribute);
    result.kind = Attribute::Kind::graph;
    result.graph = std::make_shared<const Graph>(std::move(body));
    return result;
}

Written GraphWriter::named(const Written& x, std::string_view name) {
    if (graph().nodes.empty() || names_.count(std::string(name)) || name.empty()) return x;
    Node& last = graph().nodes.back();
    if (last.outputs.size() != 1 || last.outputs[0] != x.name) return x;
    names_.erase(x.name);
    last.outputs[0] = unique(name);
    last.name = part_.empty() ? last.outputs[0] : part_ + "/" + last.outputs[0];
    return {last.outputs[0], x.dtype, x.shape};
}

Model GraphWriter::finish(const std::vector<std::pair<std::string, Written>>& outputs) {
    Graph& graph = graphs_.front();
    std::set<std::string> made;
    for (const Node& node : graph.nodes) made.insert(node.outputs.begin(), node.outputs.end());
    std::map<std::string, std::string> names;
    set_origin("", "");
    for (const auto& [name, value] : outputs) {
        // An output is the result of a node, and of one name.
        const bool is_free = made.erase(value.name) == 1;
        const Written result = is_free ? value : unary("Identity", value);
        if (result.name != name) names[result.name] = name;
        graph.outputs.push_back({name, type_of(value.dtype, value.shape)});
    }
    // What has an output's name by chance gives it up.
    std::set<std::string> taken;
    for (const ValueInfo& output : graph.outputs) taken.insert(output.name);
    for (const Node& node : graph.nodes)
        for (const std::string& name : node.outputs)
            if (taken.count(name) && !names.count(name)) {
                const bool is_its_own =
                    std::any_of(outputs.begin(), outputs.end(), [&](const auto& output) {
                        return output.first == name && output.second.name == name;
                    });
                if (!is_its_own) names[name] = unique(name);
            }
    rename(graph, names);
    remove_unread(graph, {});
    graph.name = "composit";
    Model model;
    model.opsets = {{"", most_ ? most_ : used_}};
    model.ir_version = ir_version_of(model.opsets[""]);
    model.producer_name = "composit";
    model.graph = std::move(graph);
    return model;
}

}  // namespace composit::onnx
