// Finds the nodes that move with the parameters; what they read beside them was captured.
#include "composit/functional/captured.h"

#include "composit/base/text.h"

#include <unordered_set>

namespace composit {

using ir::Node;
using ir::Tensor;

namespace {

std::vector<Tensor> captured_tensors(const ir::Body& body, ScalarConstants scalars) {
    std::unordered_set<const Node*> moving, found;
    for (const Tensor& parameter : body.parameters) moving.insert(&parameter.node());
    std::vector<Tensor> captured;
    const auto look_at = [&](const Tensor& x) {
        const bool stays =
            scalars == ScalarConstants::stay && ir::is_constant(x.node()) && x.size() == 1;
        if (moving.contains(&x.node()) || x.type().weak || stays) return;
        for (const Tensor& known : captured)
            if (found.contains(&x.node()) && known == x) return;
        found.insert(&x.node());
        captured.push_back(x);
    };
    const auto order = ir::topological_order(body.results);
    for (const Node* node : order) {
        bool moves = moving.contains(node);
        for (const Tensor& operand : node->operands())
            moves = moves || moving.contains(&operand.node());
        if (moves) moving.insert(node);
    }
    for (const Node* node : order)
        if (moving.contains(node))
            for (const Tensor& operand : node->operands()) look_at(operand);
    for (const Tensor& result : body.results) look_at(result);
    return captured;
}

}  // namespace

std::vector<Tensor> take_out_captured(ir::Body& body, ScalarConstants scalars) {
    const std::vector<Tensor> captured = captured_tensors(body, scalars);
    std::vector<Tensor> parameters;
    for (const Tensor& x : captured)
        parameters.push_back(ir::input(
            x.name().empty() ? text("fixed_", parameters.size()) : x.name(), x.dtype(), x.shape()));
    body.results = ir::substitute(body.results, captured, parameters);
    body.parameters.insert(body.parameters.end(), parameters.begin(), parameters.end());
    return captured;
}

}  // namespace composit
