// Finds the node whose indices are wrong, or whose matrix cannot be decomposed.
#include "composit/execute/blame.h"

#include "composit/ir/operation.h"
#include "composit/transforms/loop.h"

#include <set>

namespace composit::execute {
namespace {

using ir::Node;

bool has_wrong_index(const Node& node) {
    const ir::Operation& operation = node.operation();
    const std::vector<Array> indices = evaluate_without_blame(operation.deciding(node), {});
    try {
        operation.check_values(node, indices);
    } catch (const IndexError&) {
        return true;
    }
    return false;
}

bool is_indexing(const Node& node) {
    const std::string& name = node.operation().name;
    return name == "gather" || name == "scatter";
}

// Whether what the node calls fails for its operands' values.
bool fails_alone(const Node& node) {
    std::vector<Tensor> operands;
    for (const Array& value : evaluate_without_blame(node.operands(), {}))
        operands.push_back(ir::constant(value));
    try {
        static_cast<void>(
            evaluate_without_blame(ir::outputs_of(ir::with_operands(node, operands)), {}));
    } catch (const LinAlgError&) {
        return true;
    }
    return false;
}

// Nodes that can fail, and whether one does.
using Question = bool (*)(const Node& node);
struct Fault {
    Question can_fail, fails;
};

// Of nodes that can fail in the body of a loop, however deep.
std::set<std::string> lines_in_loop(const Node& node, Question can_fail) {
    std::set<std::string> lines;
    if (!transforms::is_loop(node)) return lines;
    const std::vector<Tensor>& results = transforms::LoopParts(node).body.results;
    for (const Node* inner : ir::topological_order(transforms::inline_calls(results))) {
        if (can_fail(*inner)) lines.insert(inner->location());
        lines.merge(lines_in_loop(*inner, can_fail));
    }
    return lines;
}

std::string find_line(const std::vector<Tensor>& outputs, const Fault& fault) {
    const std::vector<Tensor> inlined = transforms::inline_calls(outputs);
    for (const Node* node : ir::topological_order(inlined))
        if (fault.can_fail(*node) && fault.fails(*node)) return node->location();
    // Which iteration of a loop it was is not known: the line of what can fail in it, if that is
    // one.
    for (const Node* node : ir::topological_order(inlined))
        if (const auto lines = lines_in_loop(*node, fault.can_fail); !lines.empty())
            return lines.size() == 1 ? *lines.begin() : node->location();
    return "";
}

template <class E>
[[noreturn]] void rethrow_with(const E& error, const std::vector<Tensor>& outputs,
                               const Fault& fault) {
    std::string line;
    try {
        line = find_line(outputs, fault);
    } catch (const Error&) {  // the search must not hide what it was to explain
    }
    throw line.empty() ? error : E(text(error.what(), " (", line, ")"));
}

}  // namespace

void rethrow_with_line(const IndexError& error, const std::vector<Tensor>& outputs) {
    rethrow_with(error, outputs, {is_indexing, has_wrong_index});
}

void rethrow_with_line(const LinAlgError& error, const std::vector<Tensor>& outputs) {
    rethrow_with(error, outputs,
                 {[](const Node& node) { return node.operation().is_opaque(); }, fails_alone});
}

}  // namespace composit::execute
