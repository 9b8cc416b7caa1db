// Graphs as StableHLO: the walk over nodes, functions of bodies, the module.
#include "composit/mlir/stablehlo.h"

#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/ir/print.h"
#include "composit/mlir/graph_printer.h"
#include "composit/ops/components.h"

#include <algorithm>
#include <set>

namespace composit::mlir {
namespace {

const PrintRules& rules() {
    static const PrintRules all = [] {
        PrintRules made;
        add_elementwise_rules(made);
        add_layout_rules(made);
        add_indexing_rules(made);
        add_reduction_rules(made);
        add_product_rules(made);
        add_matrix_rules(made);
        add_body_rules(made);
        return made;
    }();
    return all;
}

// The line alone, without the part of a model.
std::string line_of(const Node& node) {
    const std::string part(ir::part_of(node.location()));
    if (part.empty() || node.location().size() <= part.size()) return node.location();
    return node.location().substr(part.size() + ir::part_separator.size());
}

// Whether short floats are computed with in float32.
bool computes(const Node& node) {
    static const std::set<std::string_view> names = {"map",      "reduce", "scan",    "contract",
                                                     "convolve", "fold",   "scatter", "search"};
    return names.contains(node.operation().name);
}

// Whether the node is written as it is although its dtypes have components.
bool is_direct(const Node& node) {
    bool has_complex = false;
    for (const ir::TensorType& type : node.types())
        has_complex = has_complex || ir::is_complex(type.dtype);
    for (const Tensor& x : node.operands()) has_complex = has_complex || ir::is_complex(x.dtype());
    if (ops::is_map(node)) {
        for (const DType dtype : ops::map_signature(node).operands)
            has_complex = has_complex || ir::is_complex(dtype);
        if (!has_complex && ops::specialisation_of(node).row->depends_on_dtype)
            return !ops::has_components(node);
    }
    return !has_complex || takes_complex(node);
}

}  // namespace

std::string at_line(const Node& node) {
    return node.location().empty() ? "" : " (" + node.location() + ")";
}

Values GraphPrinter::values(const std::vector<Tensor>& tensors, Known& known) {
    Known* const before = known_;
    known_ = &known;
    const auto of = [&](const Tensor& x) -> const Value& {
        return known_->at(&x.node())[static_cast<size_t>(x.output_index())];
    };
    for (const Node* node : ir::topological_order(tensors)) {
        if (known.contains(node)) continue;
        out.set_origin(line_of(*node));
        if (ir::is_constant(*node)) {
            const std::string& name = node->name();
            const bool is_users = name.rfind("scalar_", 0) != 0;
            known[node] = {out.constant(ir::constant_value(*node), is_users ? name : "")};
            continue;
        }
        Values operands;
        for (const Tensor& operand : node->operands()) operands.push_back(of(operand));
        Values results = written(*node, operands);
        if (results.size() == 1) results[0] = out.named(results[0], node->name());
        known[node] = std::move(results);
    }
    Values results;
    for (const Tensor& x : tensors) results.push_back(of(x));
    known_ = before;
    return results;
}

Values GraphPrinter::written(const Node& node, const Values& operands) {
    const auto rule = rules().find(node.operation().name);
    if (rule == rules().end()) {
        user_check<NotSupported>(
            static_cast<bool>(node.operation().decompose), "mlir.text: ", node.operation().name,
            " has no operation of StableHLO. A graph of other operations is required",
            at_line(node), ".");
        // The same result out of other operations. Their nodes must not make room for others, as
        // values are known by node.
        const std::vector<Tensor> others = node.operation().decompose(node);
        held_.insert(held_.end(), others.begin(), others.end());
        return values(others, *known_);
    }
    if (!is_direct(node)) return in_components(node, operands);
    Values wide = operands;
    if (computes(node))
        for (Value& x : wide)
            if (ir::is_short_float(x.dtype)) x = out.convert(x, DType::float32);
    Values results = rule->second(*this, node, wide);
    for (size_t i = 0; i < results.size(); ++i) {
        results[i] = out.convert(results[i], node.types()[i].dtype);
        internal_check(results[i].shape == node.types()[i].shape,
                       "mlir.text: ", node.operation().name, " of shape ", results[i].shape,
                       ", not ", node.types()[i].shape);
    }
    return results;
}

// The graph that kernels get of complex numbers, over placeholders of their parts.
Values GraphPrinter::in_components(const Node& node, const Values& operands) {
    std::vector<ir::Components> parts;
    std::vector<Tensor> placeholders;
    Values given;
    const auto fresh = [&](const Value& x) {
        given.push_back(x);
        placeholders.push_back(ir::input("x", x.dtype, x.shape));
        return placeholders.back();
    };
    for (const Value& x : operands) {
        ir::Components made;
        made.re = fresh(ir::is_short_float(x.dtype) ? out.convert(x, DType::float32) : out.real(x));
        if (ir::is_complex(x.dtype)) made.im = fresh(out.imag(x));
        parts.push_back(made);
    }
    std::vector<Tensor> graph;
    const std::vector<ir::Components> made = node.operation().by_components
                                                 ? node.operation().by_components(node, parts)
                                                 : ops::each_component(node, parts);
    for (const ir::Components& each : made) {
        graph.push_back(each.re);
        if (each.im) graph.push_back(each.im);
    }
    const Values all = made_of(graph, placeholders, given);
    Values results;
    auto next = all.begin();
    for (size_t i = 0; i < made.size(); ++i) {
        const Value re = *next++;
        results.push_back(made[i].im ? out.complex(re, *next++)
                                     : out.convert(re, node.types()[i].dtype));
    }
    return results;
}

Values GraphPrinter::made_of(const std::vector<Tensor>& graph,
                             const std::vector<Tensor>& placeholders, const Values& given) {
    held_.insert(held_.end(), graph.begin(), graph.end());
    Known known;
    for (size_t i = 0; i < placeholders.size(); ++i) known[&placeholders[i].node()] = {given[i]};
    return values(graph, known);
}

Values GraphPrinter::composite(std::string_view name, std::string_view attributes,
                               const Values& arguments, const Writer::Block& block) {
    std::vector<Writer::Parameter> parameters;
    for (const Value& each : arguments) parameters.push_back({"x", each.type()});
    const Values inside = out.begin_function(name, parameters, false);
    return out.composite(name, attributes, out.end_function(block(inside)), arguments);
}

Values GraphPrinter::inlined(const ir::Body& body, const Values& arguments) {
    Known known;
    for (size_t i = 0; i < arguments.size(); ++i)
        known[&body.parameters[i].node()] = {arguments[i]};
    return values(body.results, known);
}

Values GraphPrinter::called(const std::shared_ptr<const ir::Body>& body, const Values& arguments) {
    const std::string key = text("body ", static_cast<const void*>(body.get()));
    if (const Writer::Function* found = out.find(key)) return out.call(*found, arguments);
    bodies_.push_back(body);  // its address is its key
    std::vector<Writer::Parameter> parameters;
    for (const Tensor& x : body->parameters)
        parameters.push_back({x.name().empty() ? "x" : x.name(), {x.dtype(), x.shape()}});
    const Values inside = out.begin_function(body->name, parameters, false);
    const Writer::Function function = out.end_function(inlined(*body, inside));
    out.keep(key, function);
    return out.call(function, arguments);
}

namespace {

void check_names(const std::vector<NamedTensor>& tensors, std::string_view what) {
    std::set<std::string> names;
    for (const NamedTensor& each : tensors) {
        user_check(!each.name.empty(), "mlir.text: an ", what,
                   " has no name. A name for each is required.");
        user_check(names.insert(each.name).second, "mlir.text: ", what, " ", ir::quoted(each.name),
                   " is there twice. Different names are required.");
    }
}

}  // namespace

std::string stablehlo_text(const std::vector<NamedTensor>& outputs, const TextOptions& options) {
    user_check(!outputs.empty(), "mlir.text: there are no outputs. One or more are required.");
    check_names(outputs, "output");
    check_names(options.inputs, "input");
    std::vector<Tensor> tensors;
    for (const NamedTensor& output : outputs) tensors.push_back(output.tensor);
    std::vector<const Node*> inputs;
    std::vector<Writer::Parameter> parameters;
    const auto take = [&](const Node& node, const std::string& name) {
        inputs.push_back(&node);
        parameters.push_back({name, {node.types()[0].dtype, node.types()[0].shape}});
    };
    for (const NamedTensor& input : options.inputs) {
        user_check(ir::is_input(input.tensor.node()), "mlir.text: input ", ir::quoted(input.name),
                   " is no placeholder, which is required.");
        take(input.tensor.node(), input.name);
    }
    for (const Node* node : ir::topological_order(tensors)) {
        if (!ir::is_input(*node) || std::find(inputs.begin(), inputs.end(), node) != inputs.end())
            continue;
        user_check(options.inputs.empty(), "mlir.text: the outputs depend on the placeholder ",
                   ir::quoted(node->name()),
                   ", which is not among the inputs. All that they depend on are required.");
        take(*node, node->name().empty() ? "x" : node->name());
    }
    Writer writer(options.name, options.locations);
    GraphPrinter printer(writer);
    GraphPrinter::Known known;
    const Values values = writer.begin_function("main", parameters, true);
    for (size_t i = 0; i < inputs.size(); ++i) known[inputs[i]] = {values[i]};
    const Values results = printer.values(tensors, known);
    writer.end_function(results);
    std::vector<std::string> names;
    for (const NamedTensor& output : outputs) names.push_back(output.name);
    return "// Made by composit. @main returns " + join(names) + ".\n" + writer.text();
}

}  // namespace composit::mlir
