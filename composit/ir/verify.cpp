// Infers everything again and compares.
#include "composit/ir/verify.h"

#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ir/listing.h"
#include "composit/ir/operation.h"
#include "composit/ir/print.h"

namespace composit::ir {
namespace {

std::string described(const Node& node, size_t number) {
    std::string out = text("verify: node %", number, " (", node.operation().name);
    if (!node.name().empty()) out += " " + quoted(node.name());
    if (!node.location().empty()) out += ", " + node.location();
    return out + ")";
}

void verify_tensor(const Tensor& tensor, const std::string& what) {
    user_check(static_cast<bool>(tensor), what, " is empty. A tensor is required.");
    const int index = tensor.output_index(), count = tensor.node().output_count();
    user_check(index >= 0 && index < count, what, " is output ", index, " of a node with ", count,
               ". An existing output is required.");
}

void verify_node(const Node& node, size_t number) {
    for (size_t i = 0; i < node.operands().size(); ++i)
        verify_tensor(node.operands()[i], text(described(node, number), ": operand ", i));
    std::vector<TensorType> types;
    try {
        if (node.operation().check) node.operation().check(node.operands(), node.attributes());
        types = node.operation().infer(node.operands(), node.attributes());
        for (const TensorType& type : types) check_shape(node.operation().name, type.shape);
    } catch (const std::exception& error) {
        fail<ValueError>(described(node, number), ": ", error.what());
    }
    user_check(types == node.types(), described(node, number), ": its types are ",
               join(node.types()), ", but the operation gives ", join(types),
               ". The latter is required.");
}

}  // namespace

void verify(const std::vector<Tensor>& outputs) {
    for (size_t i = 0; i < outputs.size(); ++i)
        user_check(static_cast<bool>(outputs[i]), "verify: output ", i,
                   " is empty. A tensor is required.");
    size_t number = 0;
    for (const Section& section : sections_of(outputs)) {
        const std::string owner = section.body ? "body " + quoted(section.body->name) : "the graph";
        for (const Node* node : section.nodes) verify_node(*node, number++);
        for (size_t i = 0; i < section.results.size(); ++i)
            verify_tensor(section.results[i], text("verify: result ", i, " of ", owner));
        if (!section.body) continue;
        for (const Tensor& parameter : section.body->parameters)
            user_check(is_input(parameter.node()), "verify: a parameter of ", owner, " is a ",
                       parameter.node().operation().name, ". Placeholders are required.");
    }
}

}  // namespace composit::ir
