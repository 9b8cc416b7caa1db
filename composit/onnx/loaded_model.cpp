// Calls of ONNX models: inputs that are checked, values that decide shapes, programs.
#include "composit/onnx/loaded_model.h"

#include "composit/execute/fold_constants.h"
#include "composit/onnx/builder.h"

#include <algorithm>
#include <set>

namespace composit::onnx {
namespace {

std::string words(const Dimension& dimension) {
    if (dimension.value) return std::to_string(*dimension.value);
    return dimension.name.empty() ? "?" : dimension.name;
}

// Lengths of names that earlier inputs have given.
using Lengths = std::map<std::string, int64_t>;

bool fits(const std::vector<Dimension>& declared, const Shape& shape, Lengths& lengths) {
    if (declared.size() != shape.size()) return false;
    for (size_t i = 0; i < shape.size(); ++i) {
        const Dimension& dimension = declared[i];
        if (dimension.value && *dimension.value != shape[i]) return false;
        if (dimension.value || dimension.name.empty()) continue;
        if (lengths.emplace(dimension.name, shape[i]).first->second != shape[i]) return false;
    }
    return true;
}

void check_tensor(const std::string& where, const Type& type, const Value& value,
                  Lengths& lengths) {
    const bool is_plain = type.kind == Type::Kind::tensor || type.kind == Type::Kind::unknown;
    user_check<TypeError>(is_plain, where, " is ", description(value), ". ", description(type),
                          " is required.");
    if (type.element != ElementType::undefined)
        user_check<TypeError>(value.element() == type.element, where, " is ", description(value),
                              ". ", description(type), " is required.");
    if (!type.shape) return;
    const Lengths before = lengths;
    if (fits(*type.shape, value.shape(), lengths)) return;
    std::vector<std::string> known;
    for (const auto& [name, length] : before) known.push_back(text(name, " = ", length));
    fail(where, " is ", description(value), ". ", description(type), " is required",
         known.empty() ? "" : ", with " + join(known), ".");
}

void check_value(const std::string& where, const Type& type, const Value& value, Lengths& lengths) {
    if (type.kind == Type::Kind::optional) {
        if (!value.is_nothing() && type.inner) check_value(where, *type.inner, value, lengths);
        return;
    }
    user_check<TypeError>(!value.is_nothing(), where, " is left out. ", description(type),
                          " is required.");
    if (!value.is_sequence()) return check_tensor(where, type, value, lengths);
    user_check<TypeError>(type.kind == Type::Kind::sequence, where, " is ", description(value),
                          ". ", description(type), " is required.");
    // The parts of a sequence may differ in shape, also along lengths of one name.
    for (const Value& part : value.parts()) {
        Lengths of_part;
        if (type.inner) check_value(where, *type.inner, part, of_part);
    }
}

// Tensors of a value, put in the place of those that it has, in order.
template <class Replace>
Value with_tensors(const Value& value, const Replace& replace) {
    if (value.is_tensor()) return {replace(value.tensor()), value.element()};
    if (!value.is_sequence()) return value;
    Values parts;
    for (const Value& part : value.parts()) parts.push_back(with_tensors(part, replace));
    return Value::sequence(std::move(parts));
}

}  // namespace

std::string description(const Type& type) {
    switch (type.kind) {
        case Type::Kind::sequence:
            return "a sequence of " + (type.inner ? description(*type.inner) : "values");
        case Type::Kind::optional:
            return "nothing or " + (type.inner ? description(*type.inner) : "a value");
        case Type::Kind::map: return "a map";
        case Type::Kind::opaque: return "an opaque value";
        case Type::Kind::sparse_tensor: return text("a sparse tensor of ", name(type.element));
        default: break;
    }
    if (!type.shape) return std::string(name(type.element));
    std::vector<std::string> lengths;
    for (const Dimension& dimension : *type.shape) lengths.push_back(words(dimension));
    return text(name(type.element), " (", join(lengths), lengths.size() == 1 ? ",)" : ")");
}

LoadedModel::LoadedModel(Model model)
    : program_(std::make_shared<const Program>(std::move(model))) {
    const Graph& graph = program_->model().graph;
    std::set<std::string> known;
    for (const TensorData& data : graph.initializers) {
        known.insert(data.name);
        const Value& value = program_->constant(data);
        if (value.is_tensor() && ir::is_inexact(value.tensor().dtype()) &&
            !is_small(value.element()))
            parameters_.push_back({data.name, value.tensor()});
    }
    for (const SparseTensorData& data : graph.sparse_initializers) known.insert(data.values.name);
    for (const ValueInfo& input : graph.inputs)
        if (!known.count(input.name)) inputs_.push_back(input);
}

int64_t LoadedModel::constant_numbers() const {
    int64_t count = 0;
    for (const Parameter& parameter : parameters_)
        count += ir::element_count(parameter.tensor.shape());
    return count;
}

const std::vector<ValueInfo>& LoadedModel::outputs() const {
    return program_->model().graph.outputs;
}
const Opsets& LoadedModel::opsets() const { return program_->model().opsets; }
const Model& LoadedModel::file() const { return program_->model(); }

void LoadedModel::check(const Values& inputs) const {
    std::vector<std::string> names;
    for (const ValueInfo& input : inputs_) names.push_back(input.name);
    user_check<TypeError>(inputs.size() == inputs_.size(), "onnx: the model is called with ",
                          inputs.size(), " inputs. ", inputs_.size(),
                          " are required: ", join(names), ".");
    Lengths lengths;
    for (size_t i = 0; i < inputs.size(); ++i)
        check_value(text("onnx: input '", inputs_[i].name, "'"), inputs_[i].type, inputs[i],
                    lengths);
}

Values LoadedModel::operator()(const Values& inputs,
                               const std::map<std::string, Tensor>& parameters) const {
    check(inputs);
    for (const auto& [name, tensor] : parameters) {
        const auto found = std::find_if(parameters_.begin(), parameters_.end(),
                                        [&](const Parameter& p) { return p.name == name; });
        user_check<KeyError>(found != parameters_.end(), "onnx: the model has no parameter '", name,
                             "'. A name of model.parameters is required.");
        user_check(
            tensor.type().dtype == found->tensor.dtype() && tensor.shape() == found->tensor.shape(),
            "onnx: parameter '", name, "' is given ", tensor.dtype(), " ", tensor.shape(), ". ",
            found->tensor.dtype(), " ", found->tensor.shape(), " is required.");
    }
    std::map<std::string, Value> named;
    for (size_t i = 0; i < inputs.size(); ++i) named[inputs_[i].name] = inputs[i];
    return Builder(program_).build(named, parameters);
}

namespace {

// Outputs with the work that is the same in every call done.
Values folded(const Values& outputs) {
    std::vector<Tensor> tensors;
    const auto collect = [&](const Tensor& tensor) {
        tensors.push_back(tensor);
        return tensor;
    };
    for (const Value& output : outputs) (void)with_tensors(output, collect);
    const std::vector<Tensor> made = execute::fold_constants(tensors);
    size_t next = 0;
    Values results;
    for (const Value& output : outputs)
        results.push_back(with_tensors(output, [&](const Tensor&) { return made[next++]; }));
    return results;
}

}  // namespace

Values LoadedModel::with_fixed_parameters(const Values& inputs) const {
    return folded((*this)(inputs));
}

LoadedModel::Traced LoadedModel::trace(const Values& examples) const {
    check(examples);
    std::set<size_t> fixed;
    for (;;) {
        Traced traced;
        std::map<const ir::Node*, size_t> place_of;
        Values inputs;
        for (size_t i = 0; i < examples.size(); ++i) {
            if (fixed.count(i)) {
                inputs.push_back(examples[i]);
                continue;
            }
            size_t part = 0;
            inputs.push_back(with_tensors(examples[i], [&](const Tensor& tensor) {
                const std::string& name = inputs_[i].name;
                const Tensor made = ir::input(part++ == 0 ? name : text(name, "_", part),
                                              tensor.dtype(), tensor.shape());
                place_of[&made.node()] = i;
                traced.placeholders.push_back(made);
                return made;
            }));
        }
        traced.fixed.assign(fixed.begin(), fixed.end());
        try {
            traced.outputs = (*this)(inputs);
            return traced;
        } catch (const NeedsValue& error) {
            const size_t before = fixed.size();
            for (const ir::Node* node : ir::topological_order({error.tensor()})) {
                const auto found = place_of.find(node);
                if (found != place_of.end()) fixed.insert(found->second);
            }
            if (fixed.size() == before) throw;
        }
    }
}

std::vector<size_t> LoadedModel::deciding_inputs(const Values& examples) const {
    return trace(examples).fixed;
}

LoadedModel::Compiled LoadedModel::compile(const std::vector<Tensor>& examples,
                                           const execute::Options& options) const {
    Values values;
    for (size_t i = 0; i < examples.size(); ++i) {
        const ElementType declared =
            i < inputs_.size() ? inputs_[i].type.element : ElementType::undefined;
        values.push_back(is_small(declared) ? Value(examples[i], declared) : Value(examples[i]));
    }
    Traced traced = trace(values);
    std::vector<Tensor> outputs;
    std::vector<std::vector<std::string>> texts;
    for (const Value& output : folded(traced.outputs)) {
        texts.push_back(output.is_chosen() ? output.chosen().texts : std::vector<std::string>());
        if (output.is_chosen()) {
            outputs.push_back(output.chosen().places);
            continue;
        }
        user_check<TypeError>(output.is_tensor(), "onnx: compile: an output is ",
                              description(output), ". Tensors are required.");
        outputs.push_back(output.tensor());
    }
    return {execute::Compiled("model", traced.placeholders, outputs, options),
            std::move(traced.fixed), std::move(texts)};
}

LoadedModel load(const std::filesystem::path& path) { return LoadedModel(read_model(path)); }

LoadedModel load_bytes(std::string content, const std::filesystem::path& folder) {
    return LoadedModel(read_model_bytes(std::move(content), folder));
}

}  // namespace composit::onnx
