// Graphs as models: the walk over nodes, and the model's inputs and outputs.
#include "composit/onnx/save_model.h"

#include "composit/base/error.h"
#include "composit/base/whole_file.h"
#include "composit/ir/operation.h"
#include "composit/ir/print.h"
#include "composit/onnx/save_rules.h"

#include <set>

namespace composit::onnx {
namespace saving {
namespace {

using ir::Tensor;

const SaveRules& rules() {
    static const SaveRules all = [] {
        SaveRules made;
        add_elementwise_rules(made);
        add_layout_rules(made);
        add_indexing_rules(made);
        add_reduction_rules(made);
        add_product_rules(made);
        add_layer_rules(made);
        return made;
    }();
    return all;
}

// " (model.py:12)"; empty where there is no line.
std::string at_line(const Node& node) {
    return node.location().empty() ? "" : " (" + node.location() + ")";
}

void check_dtypes(const Node& node) {
    for (const ir::TensorType& type : node.types())
        user_check<NotSupported>(!ir::is_complex(type.dtype), "onnx.save: ", node.operation().name,
                                 " makes ", type,
                                 ". ONNX's operators take no complex numbers: real dtypes are "
                                 "required",
                                 at_line(node), ".");
}

}  // namespace

const Written& GraphSaver::written(const Tensor& x) const {
    return known_->at(&x.node())[static_cast<size_t>(x.output_index())];
}

ManyWritten GraphSaver::values(const std::vector<Tensor>& tensors, Known& known) {
    Known* const before = known_;
    known_ = &known;
    for (const Node* node : ir::topological_order(tensors)) {
        if (known.contains(node)) continue;
        check_dtypes(*node);
        const std::string part(ir::part_of(node->location()));
        std::string line = node->location();
        if (!part.empty() && line.size() > part.size())
            line = line.substr(part.size() + ir::part_separator.size());
        out.set_origin(part, part == line ? "" : line);
        if (ir::is_constant(*node)) {
            known[node] = {out.constant(ir::constant_value(*node), node->name())};
            continue;
        }
        ManyWritten operands;
        for (const Tensor& operand : node->operands()) operands.push_back(written(operand));
        ManyWritten results = save_layer(*this, *node);
        if (results.empty()) results = written(*node, operands);
        if (results.size() == 1) results[0] = out.named(results[0], node->name());
        known[node] = std::move(results);
    }
    ManyWritten results;
    for (const Tensor& x : tensors) results.push_back(written(x));
    known_ = before;
    return results;
}

ManyWritten GraphSaver::written(const Node& node, const ManyWritten& operands) {
    const auto rule = rules().find(node.operation().name);
    if (rule != rules().end()) return rule->second(*this, node, operands);
    user_check<NotSupported>(
        static_cast<bool>(node.operation().decompose), "onnx.save: ", node.operation().name,
        " has no operator of ONNX. A graph of other operations is required", at_line(node), ".");
    // The same result out of other operations. Their nodes must not make room for others, as values
    // are known by node.
    const std::vector<Tensor> others = node.operation().decompose(node);
    held_.insert(held_.end(), others.begin(), others.end());
    return values(others, *known_);
}

Written GraphSaver::in_place_of(const Tensor& x) {
    held_.push_back(x);
    return values({x}, *known_)[0];
}

ManyWritten GraphSaver::inlined(const ir::Body& body, const ManyWritten& arguments) {
    Known known;
    for (size_t i = 0; i < arguments.size(); ++i)
        known[&body.parameters[i].node()] = {arguments[i]};
    return values(body.results, known);
}

}  // namespace saving

namespace {

void check_names(const std::vector<NamedTensor>& tensors, std::string_view what) {
    std::set<std::string> names;
    for (const NamedTensor& each : tensors) {
        user_check(!each.name.empty(), "onnx.save: an ", what,
                   " has no name. A name for each is required.");
        user_check(names.insert(each.name).second, "onnx.save: ", what, " ", ir::quoted(each.name),
                   " is there twice. Different names are required.");
    }
}

}  // namespace

std::string model_bytes(const std::vector<NamedTensor>& outputs, const SaveOptions& options) {
    user_check(!outputs.empty(), "onnx.save: there are no outputs. One or more are required.");
    user_check(options.opset == 0 || options.opset >= 18, "onnx.save: opset ", options.opset,
               " is asked for. One from 18 on is required.");
    check_names(outputs, "output");
    check_names(options.inputs, "input");
    GraphWriter writer(options.opset);
    saving::GraphSaver saver(writer);
    saving::GraphSaver::Known known;
    std::vector<ir::Tensor> tensors;
    for (const NamedTensor& output : outputs) tensors.push_back(output.tensor);
    for (const NamedTensor& input : options.inputs) {
        user_check(ir::is_input(input.tensor.node()), "onnx.save: input ", ir::quoted(input.name),
                   " is no placeholder, which is required.");
        known[&input.tensor.node()] = {
            writer.input(input.name, input.tensor.dtype(), input.tensor.shape())};
    }
    for (const ir::Node* node : ir::topological_order(tensors)) {
        if (!ir::is_input(*node) || known.contains(node)) continue;
        user_check(options.inputs.empty(), "onnx.save: the outputs depend on the placeholder ",
                   ir::quoted(node->name()),
                   ", which is not among the inputs. All that they depend "
                   "on are required.");
        known[node] = {writer.input(node->name().empty() ? "x" : node->name(),
                                    node->types()[0].dtype, node->types()[0].shape)};
    }
    const ManyWritten results = saver.values(tensors, known);
    std::vector<std::pair<std::string, Written>> named;
    for (size_t i = 0; i < outputs.size(); ++i) named.emplace_back(outputs[i].name, results[i]);
    return write_model(writer.finish(named));
}

void save(const std::filesystem::path& path, const std::vector<NamedTensor>& outputs,
          const SaveOptions& options) {
    write_whole_file("onnx.save", path, model_bytes(outputs, options));
}

}  // namespace composit::onnx
