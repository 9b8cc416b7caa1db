#include "composit/eager/failing.h"

#include "composit/base/error.h"
#include "composit/eager/cell.h"
#include "composit/ir/operation.h"

#include <unordered_set>

namespace composit::eager {
namespace {

using ir::Node;

bool is_unchecked(const Node& node) { return node.may_fail() && !node.has_kept(); }

// Nodes that `tensor` is made of and that nobody has checked, operands before users.
std::vector<const Node*> unchecked_nodes(const Tensor& tensor) {
    struct Frame {
        const Node* node;
        size_t next;
    };
    std::vector<const Node*> order;
    std::unordered_set<const Node*> seen{&tensor.node()};
    std::vector<Frame> stack{{&tensor.node(), 0}};
    while (!stack.empty()) {
        Frame& frame = stack.back();
        if (frame.next == frame.node->operands().size()) {
            order.push_back(frame.node);
            stack.pop_back();
            continue;
        }
        const Node& operand = frame.node->operands()[frame.next++].node();
        if (is_unchecked(operand) && seen.insert(&operand).second) stack.push_back({&operand, 0});
    }
    return order;
}

// What is to be looked at for one node, and where that stands in the list of all.
struct Check {
    const Node* node;
    size_t first, count;
};

}  // namespace

void check_values(const Tensor& tensor, const execute::Options& options) {
    if (tensor.node().is_open() || !is_unchecked(tensor.node())) return;
    const std::vector<const Node*> order = unchecked_nodes(tensor);
    std::vector<Tensor> deciding;
    std::vector<Check> checks;
    for (const Node* node : order) {
        const ir::Operation& operation = node->operation();
        if (!operation.may_fail || !operation.may_fail(*node)) continue;
        const std::vector<Tensor> wanted =
            operation.deciding ? operation.deciding(*node) : ir::outputs_of(Ref<Node>(node));
        checks.push_back({node, deciding.size(), wanted.size()});
        deciding.insert(deciding.end(), wanted.begin(), wanted.end());
    }
    const std::vector<Array> values = look(deciding, options);
    for (const Check& check : checks) {
        if (!check.node->operation().check_values) continue;
        const auto first = values.begin() + static_cast<std::ptrdiff_t>(check.first);
        try {
            check.node->operation().check_values(
                *check.node, {first, first + static_cast<std::ptrdiff_t>(check.count)});
        } catch (const IndexError& error) {
            const std::string& line = check.node->location();
            if (line.empty()) throw;
            throw IndexError(text(error.what(), " (", line, ")"));
        }
    }
    for (const Node* node : order) node->set_checked();
}

}  // namespace composit::eager
