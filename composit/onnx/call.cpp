// Inputs and attributes of a node, with their types checked.
#include "composit/onnx/call.h"

#include "composit/base/nearest.h"
#include "composit/execute/execute.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/onnx/builder.h"

#include <array>

namespace composit::onnx {
namespace {

constexpr std::array<std::string_view, 15> kind_names{
    "nothing", "a float",         "an integer",     "a string", "a tensor",
    "a graph", "floats",          "integers",       "strings",  "tensors",
    "graphs",  "a sparse tensor", "sparse tensors", "a type",   "types"};

std::string_view kind_name(Attribute::Kind kind) {
    const auto number = static_cast<size_t>(kind);
    return number < kind_names.size() ? kind_names[number] : "of no known kind";
}

}  // namespace

std::string description(const Value& value) {
    if (value.is_nothing()) return "nothing";
    if (value.is_sequence()) return text("a sequence of ", value.parts().size());
    return text(name(value.element()), " ", value.shape());
}

void Value::refuse(const char* required) const {
    fail<TypeError>("a value is ", description(*this), ". ", required, " is required.");
}

Call::Call(Builder& builder, const Node& node, int64_t opset, Values inputs, const Bound* bound)
    : builder_(&builder), node_(&node), opset_(opset), inputs_(std::move(inputs)), bound_(bound) {}

const Value& Call::value(size_t i) const {
    static const Value nothing;
    return i < inputs_.size() ? inputs_[i] : nothing;
}

const Tensor& Call::tensor(size_t i) const {
    check(has(i), "input ", i, " is left out. A tensor is required.");
    if (inputs_[i].is_chosen()) (void)known(inputs_[i].chosen().places);
    check<TypeError>(inputs_[i].is_tensor(), "input ", i, " is ", description(inputs_[i]),
                     ". A tensor of numbers or bool is required.");
    return inputs_[i].tensor();
}

Tensor Call::tensor_if_given(size_t i) const { return has(i) ? tensor(i) : Tensor(); }

std::vector<Tensor> Call::tensors() const {
    check(!inputs_.empty(), "there are no inputs. At least one is required.");
    std::vector<Tensor> all;
    for (size_t i = 0; i < inputs_.size(); ++i) all.push_back(tensor(i));
    return all;
}

const Strings& Call::strings(size_t i) const {
    if (value(i).is_chosen()) (void)known(value(i).chosen().places);
    check<TypeError>(value(i).is_strings(), "input ", i, " is ", description(value(i)),
                     ". A tensor of strings is required.");
    return value(i).strings();
}

Value Call::strings_at(const Tensor& places, const std::vector<std::string>& texts) const {
    const auto count = static_cast<int64_t>(texts.size());
    const Tensor within = numpy::take(numpy::arange(count), places);
    if (!is_known(within)) return ChosenStrings{within, texts};
    const Array known_places = known(within);
    Strings strings{known_places.shape(), {}};
    for (int64_t i = 0; i < known_places.size(); ++i)
        strings.elements.push_back(texts[static_cast<size_t>(known_places.data_as<int64_t>()[i])]);
    return strings;
}

const Values& Call::sequence(size_t i) const {
    check<TypeError>(value(i).is_sequence(), "input ", i, " is ", description(value(i)),
                     ". A sequence is required.");
    return value(i).parts();
}

bool Call::is_known(const Tensor& tensor) { return !tensor.node().is_open(); }

Array Call::known(const Tensor& tensor) const {
    if (ir::is_constant(tensor.node())) return ir::constant_value(tensor.node());
    if (!is_known(tensor))
        throw NeedsValue(
            "the values of an input decide a shape, but they depend on a placeholder. "
            "Values that are known when the graph is built are required.",
            tensor);
    return execute::values_now({tensor})[0];
}

Array Call::known(size_t i) const { return known(tensor(i)); }

Tensor Call::known_tensor(size_t i) const {
    const Tensor& given = tensor(i);
    return ir::is_constant(given.node()) ? given : numpy::asarray(known(given));
}

std::vector<int64_t> Call::known_integers(size_t i) const {
    check<TypeError>(ir::is_integer(tensor(i).dtype()), "input ", i, " is ", description(value(i)),
                     ". Integers are required.");
    const Array values = known(numpy::astype(tensor(i), DType::int64));
    const auto* data = values.data_as<int64_t>();
    return {data, data + values.size()};
}

std::vector<double> Call::known_numbers(size_t i) const {
    const Array values = known(numpy::astype(tensor(i), DType::float64));
    const auto* data = values.data_as<double>();
    return {data, data + values.size()};
}

int64_t Call::known_integer_of(const Tensor& tensor) const {
    check(tensor.size() == 1 && !ir::is_inexact(tensor.dtype()), "a number is ",
          description(Value(tensor)), ". One integer or bool is required.");
    return *known(numpy::astype(tensor, DType::int64)).data_as<int64_t>();
}

int64_t Call::known_integer(size_t i) const { return known_integer_of(tensor(i)); }

double Call::known_number(size_t i) const {
    const std::vector<double> values = known_numbers(i);
    check(values.size() == 1, "input ", i, " is ", description(value(i)),
          ". One number is required.");
    return values[0];
}

// ----- attributes

const Attribute* Call::find(std::string_view name) const {
    for (const Attribute& attribute : node_->attributes) {
        if (attribute.name != name) continue;
        if (attribute.reference.empty()) return &attribute;
        if (!bound_) return nullptr;
        const auto found = bound_->find(attribute.reference);
        return found == bound_->end() ? nullptr : found->second;
    }
    return nullptr;
}

const Attribute* Call::find(std::string_view name, Attribute::Kind kind) const {
    const Attribute* found = find(name);
    if (!found) return nullptr;
    // A list without elements may have been written as any kind.
    check<TypeError>(found->kind == kind || found->kind == Attribute::Kind::undefined,
                     "attribute '", name, "' is ", kind_name(found->kind),
                     ". It is required to be ", kind_name(kind), ".");
    return found;
}

bool Call::has_attribute(std::string_view name) const { return find(name) != nullptr; }

int64_t Call::integer(std::string_view name) const {
    const Attribute* found = find(name, Attribute::Kind::integer);
    check(found != nullptr, "attribute '", name, "' is missing. An integer is required.");
    return found->integer;
}

int64_t Call::integer(std::string_view name, int64_t missing) const {
    const Attribute* found = find(name, Attribute::Kind::integer);
    return found ? found->integer : missing;
}

double Call::number(std::string_view name, double missing) const {
    const Attribute* found = find(name, Attribute::Kind::number);
    return found ? static_cast<double>(found->number) : missing;
}

std::string Call::text(std::string_view name, std::string_view missing) const {
    const Attribute* found = find(name, Attribute::Kind::text);
    return found ? found->text : std::string(missing);
}

std::vector<int64_t> Call::integers(std::string_view name) const {
    const Attribute* found = find(name, Attribute::Kind::integers);
    return found ? found->integers : std::vector<int64_t>();
}

std::vector<double> Call::numbers(std::string_view name) const {
    const Attribute* found = find(name, Attribute::Kind::numbers);
    if (!found) return {};
    return {found->numbers.begin(), found->numbers.end()};
}

std::vector<std::string> Call::texts(std::string_view name) const {
    const Attribute* found = find(name, Attribute::Kind::texts);
    return found ? found->texts : std::vector<std::string>();
}

std::optional<Value> Call::constant(std::string_view name) const {
    const Attribute* found = find(name);
    if (!found) return std::nullopt;
    if (found->kind == Attribute::Kind::sparse_tensor && found->sparse_tensor)
        return builder_->program().constant(*found->sparse_tensor);
    found = find(name, Attribute::Kind::tensor);
    check(found->tensor != nullptr, "attribute '", name, "' is empty. A tensor is required.");
    return builder_->program().constant(*found->tensor);
}

const Graph& Call::graph(std::string_view name) const {
    const Attribute* found = find(name, Attribute::Kind::graph);
    check(found && found->graph, "attribute '", name, "' is missing. A graph is required.");
    return *found->graph;
}

const Type* Call::type(std::string_view name) const {
    const Attribute* found = find(name, Attribute::Kind::type);
    return found ? found->type.get() : nullptr;
}

ElementType Call::element(std::string_view name, ElementType missing) const {
    const Attribute* found = find(name, Attribute::Kind::integer);
    if (!found) return missing;
    const auto type = element_type(found->integer);
    check(type.has_value() && *type != ElementType::undefined, "attribute '", name, "' is ",
          found->integer, ". The number of an element type is required.");
    return *type;
}

std::optional<std::vector<int64_t>> Call::axes(size_t input, std::string_view attribute,
                                               int rank) const {
    std::vector<int64_t> axes;
    if (has(input))
        axes = known_integers(input);
    else if (has_attribute(attribute))
        axes = integers(attribute);
    else
        return std::nullopt;
    for (int64_t& axis : axes) {
        check(axis >= -rank && axis < rank, "axis ", axis, " of a tensor of rank ", rank,
              ". An axis from ", -rank, " to ", rank - 1, " is required.");
        if (axis < 0) axis += rank;
    }
    return axes;
}

int64_t Call::axis(int rank, int64_t missing, std::string_view name) const {
    const int64_t axis = integer(name, missing);
    check(axis >= -rank && axis < rank, "axis ", axis, " of a tensor of rank ", rank,
          ". An axis from ", -rank, " to ", rank - 1, " is required.");
    return axis < 0 ? axis + rank : axis;
}

// ----- registry

void Registry::add(std::string_view name, Operator build, std::string_view domain,
                   int64_t first_opset) {
    records_[{std::string(domain), std::string(name)}] = {std::string(domain), std::string(name),
                                                          build, domain.empty() ? first_opset : 1};
}

const OperatorRecord* Registry::find(std::string_view domain, std::string_view name) const {
    const auto found = records_.find({std::string(domain), std::string(name)});
    return found == records_.end() ? nullptr : &found->second;
}

std::vector<OperatorRecord> Registry::all() const {
    std::vector<OperatorRecord> all;
    for (const auto& [key, record] : records_) all.push_back(record);
    return all;
}

std::vector<std::string> Registry::nearest(std::string_view name) const {
    std::vector<std::string> names;
    for (const auto& [key, record] : records_) names.push_back(key.second);
    return nearest_names(name, names, 3);
}

}  // namespace composit::onnx
