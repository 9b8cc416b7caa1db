// From an ONNX graph to composit's: constants, scopes, functions, and errors that name the node.
#include "composit/onnx/builder.h"

#include "composit/base/errors_as.h"
#include "composit/numpy/creation.h"

#include <algorithm>
#include <unordered_set>

namespace composit::onnx {
namespace {

// Functions that call one another twice each grow like powers of two: what a build makes is
// bounded.
constexpr int64_t most_nodes = int64_t{1} << 20;
constexpr size_t most_frames = 256;

std::string function_key(const Node& node) {
    return node.domain + '\n' + node.operation + '\n' + node.overload;
}

std::string operator_name(const Node& node) {
    return node.domain.empty() ? node.operation : node.domain + "." + node.operation;
}

std::string node_words(const Node& node) {
    const std::string& called =
        !node.name.empty() || node.outputs.empty() ? node.name : node.outputs[0];
    return text("node '", called, "' (", operator_name(node), ")");
}

Value value_of(const TensorData& data, const std::filesystem::path& folder) {
    if (data.element != ElementType::string)
        return {numpy::asarray(array_of(data, folder), data.name), data.element};
    int64_t count = 1;
    bool fits = true;
    for (const int64_t length : data.dims)
        fits = fits && length >= 0 && !__builtin_mul_overflow(count, length, &count);
    user_check(fits && count == static_cast<int64_t>(data.strings.size()), "onnx.load: tensor '",
               data.name, "': it has ", data.strings.size(), " strings and the shape ", data.dims,
               ". As many strings as the shape says are required.");
    return Strings{data.dims, data.strings};
}

}  // namespace

// ----- Program

Program::Program(Model model) : model_(std::move(model)) {
    for (const Function& function : model_.functions) {
        functions_[function.domain + '\n' + function.name + '\n' + function.overload] = &function;
        read(function.nodes);
        for (const Attribute& attribute : function.defaults) read(attribute);
    }
    read(model_.graph);
    check(model_.graph, {});
    for (const Function& function : model_.functions) {
        std::vector<std::string> names = function.inputs;
        check(function.nodes, function.opsets, names);
    }
}

const Function* Program::function(const Node& node) const {
    const auto found = functions_.find(function_key(node));
    return found == functions_.end() ? nullptr : found->second;
}

const Value& Program::constant(const TensorData& data) const { return constants_.at(&data); }
const Value& Program::constant(const SparseTensorData& data) const { return constants_.at(&data); }

void Program::read(const Attribute& attribute) {
    if (attribute.tensor)
        constants_[attribute.tensor.get()] = value_of(*attribute.tensor, model_.folder);
    if (attribute.sparse_tensor) {
        const SparseTensorData& data = *attribute.sparse_tensor;
        constants_[&data] =
            Value(numpy::asarray(array_of(data, model_.folder)), data.values.element);
    }
    if (attribute.graph) read(*attribute.graph);
}

void Program::read(const std::vector<Node>& nodes) {
    for (const Node& node : nodes)
        for (const Attribute& attribute : node.attributes) read(attribute);
}

void Program::read(const Graph& graph) {
    for (const TensorData& data : graph.initializers)
        constants_[&data] = value_of(data, model_.folder);
    for (const SparseTensorData& data : graph.sparse_initializers)
        constants_[&data] = Value(numpy::asarray(array_of(data, model_.folder), data.values.name),
                                  data.values.element);
    read(graph.nodes);
}

void Program::check(const Node& node, const Opsets& opsets) const {
    const auto found = opsets.find(node.domain);
    const std::string where = "onnx.load: " + node_words(node);
    if (function(node)) return;
    const OperatorRecord* record = operators().find(node.domain, node.operation);
    if (!record) {
        const std::vector<std::string> nearest = operators().nearest(node.operation);
        fail<NotSupported>(where, ": composit has no such operator",
                           nearest.empty() ? "" : text("; near to it are ", join(nearest)),
                           ". An operator of composit.onnx.operators(), or a function of the "
                           "model, is required.");
    }
    user_check(found != opsets.end(), where, ": the model does not say which version of domain '",
               node.domain, "' it uses. An entry of opset_import is required.");
    user_check<NotSupported>(found->second >= record->first_opset, where, ": it is of opset ",
                             found->second, ". Opset ", record->first_opset,
                             " or later is required: onnx.version_converter converts models.");
}

void Program::check(const std::vector<Node>& nodes, const Opsets& opsets,
                    std::vector<std::string>& names) const {
    std::unordered_set<std::string> made(names.begin(), names.end());
    for (const Node& node : nodes) {
        check(node, opsets);
        for (const std::string& input : node.inputs)
            user_check(input.empty() || made.count(input), "onnx.load: ", node_words(node),
                       ": its input '", input,
                       "' is made by no node before it. Nodes in the order of their use, without "
                       "cycles, are required.");
        for (const Attribute& attribute : node.attributes)
            if (attribute.graph) check(*attribute.graph, {made.begin(), made.end()});
        for (const std::string& output : node.outputs)
            if (!output.empty()) made.insert(output);
    }
    names.assign(made.begin(), made.end());
}

void Program::check(const Graph& graph, const std::vector<std::string>& around) const {
    std::vector<std::string> names = around;
    for (const ValueInfo& input : graph.inputs) names.push_back(input.name);
    for (const TensorData& data : graph.initializers) names.push_back(data.name);
    for (const SparseTensorData& data : graph.sparse_initializers)
        names.push_back(data.values.name);
    check(graph.nodes, model_.opsets, names);
    const std::unordered_set<std::string> made(names.begin(), names.end());
    for (const ValueInfo& output : graph.outputs)
        user_check(made.count(output.name) != 0, "onnx.load: output '", output.name, "' of graph '",
                   graph.name, "' is made by no node. An output of a node is required.");
}

// ----- Scope

const Value* Scope::find(const std::string& name) const {
    for (const Scope* scope = this; scope; scope = scope->around_) {
        const auto found = scope->values_.find(name);
        if (found != scope->values_.end()) return &found->second;
    }
    return nullptr;
}

// ----- Builder

Values Builder::taken(const std::vector<std::string>& names, const Scope& scope) {
    Values values;
    for (const std::string& name : names) {
        const Value* found = name.empty() ? nullptr : scope.find(name);
        user_check(name.empty() || found, "onnx: '", name,
                   "' has no value. An output of a node, an input or an initializer is required.");
        values.push_back(found ? *found : Value());
    }
    return values;
}

void Builder::set_initializers(const Graph& graph, Scope& scope, const Replaced* replaced) const {
    for (const TensorData& data : graph.initializers) {
        const auto found = replaced ? replaced->find(data.name) : Replaced::const_iterator();
        if (replaced && found != replaced->end())
            scope.set(data.name, Value(found->second, data.element));
        else
            scope.set(data.name, program_->constant(data));
    }
    for (const SparseTensorData& data : graph.sparse_initializers)
        scope.set(data.values.name, program_->constant(data));
}

Values Builder::build(const std::map<std::string, Value>& inputs, const Replaced& replaced) {
    const Graph& graph = program_->model().graph;
    Frame frame{Scope(), &program_->model().opsets, nullptr};
    set_initializers(graph, frame.scope, &replaced);
    for (const auto& [name, value] : inputs) frame.scope.set(name, value);
    run(graph.nodes, frame);
    std::vector<std::string> names;
    for (const ValueInfo& output : graph.outputs) names.push_back(output.name);
    return taken(names, frame.scope);
}

Values Builder::build(const Graph& graph, const Values& inputs, const Call& call) {
    user_check(inputs.size() == graph.inputs.size(), "the graph '", graph.name, "' within has ",
               graph.inputs.size(), " inputs. ", inputs.size(), " are required.");
    Frame frame{Scope(&frames_.back()->scope), frames_.back()->opsets, call.bound()};
    set_initializers(graph, frame.scope, nullptr);
    for (size_t i = 0; i < inputs.size(); ++i) frame.scope.set(graph.inputs[i].name, inputs[i]);
    run(graph.nodes, frame);
    std::vector<std::string> names;
    for (const ValueInfo& output : graph.outputs) names.push_back(output.name);
    return taken(names, frame.scope);
}

void Builder::run(const std::vector<Node>& nodes, Frame& frame) {
    user_check(frames_.size() < most_frames, "onnx: functions and graphs are nested more than ",
               most_frames, " deep. Less nesting is required.");
    frames_.push_back(&frame);
    struct Leave {
        std::vector<Frame*>& frames;
        ~Leave() { frames.pop_back(); }
    } leave{frames_};
    for (const Node& node : nodes) run(node, frame);
}

void Builder::run(const Node& node, Frame& frame) {
    user_check(++built_ <= most_nodes, "onnx: the model has more than ", most_nodes,
               " nodes when its functions are in line. Fewer are required.");
    // Nodes of the graph are parts of the model, as layers of a network are.
    const ir::LocationScope located(node.name.empty() ? ir::current_location() : location_of(node));
    Values outputs;
    try {
        outputs = outputs_of(node, frame);
    } catch (const NeedsValue& error) {
        const std::string_view said = error.what();
        if (said.starts_with("onnx: ")) throw;
        throw NeedsValue(text("onnx: ", node_words(node), ": ", said), error.tensor());
    } catch (const Error& error) {
        rethrow_as("onnx: " + node_words(node), error);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i].empty()) continue;
        frame.scope.set(node.outputs[i], i < outputs.size() ? outputs[i] : Value());
    }
}

ir::Interned Builder::location_of(const Node& node) const {
    std::string location = node.name;
    if (line_) location += std::string(ir::part_separator) + *line_;
    return ir::intern(location);
}

Values Builder::outputs_of(const Node& node, Frame& frame) {
    Values inputs = taken(node.inputs, frame.scope);
    if (const Function* function = program_->function(node))
        return call(*function, node, inputs, frame);
    const OperatorRecord* record = operators().find(node.domain, node.operation);
    const auto opset = frame.opsets->find(node.domain);
    Call call(*this, node, opset == frame.opsets->end() ? 0 : opset->second, std::move(inputs),
              frame.bound);
    return record->build(call);
}

Values Builder::call(const Function& function, const Node& node, const Values& inputs,
                     const Frame& around) {
    user_check(inputs.size() <= function.inputs.size(), "function '", function.name, "' is given ",
               inputs.size(), " inputs. At most ", function.inputs.size(), " are required.");
    Call::Bound bound;
    for (const Attribute& attribute : function.defaults) bound[attribute.name] = &attribute;
    for (const Attribute& attribute : node.attributes) {
        if (attribute.reference.empty()) {
            bound[attribute.name] = &attribute;
        } else if (around.bound) {
            const auto found = around.bound->find(attribute.reference);
            if (found != around.bound->end()) bound[attribute.name] = found->second;
        }
    }
    Frame frame{Scope(), function.opsets.empty() ? around.opsets : &function.opsets, &bound};
    for (size_t i = 0; i < function.inputs.size(); ++i)
        frame.scope.set(function.inputs[i], i < inputs.size() ? inputs[i] : Value());
    run(function.nodes, frame);
    return taken(function.outputs, frame.scope);
}

}  // namespace composit::onnx
