// Calls replaced by what their bodies do, until none is left.
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <map>
#include <unordered_map>

namespace composit::transforms {

using ir::Node;

namespace {

using Keep = std::function<bool(const Node&)>;

// The values of a node that cannot be computed again, as constants; nothing for any other node.
std::vector<Tensor> last_values(const Node& node) {
    if (!node.operation().keeps_forever || !node.has_kept()) return {};
    std::vector<Tensor> values;
    for (int i = 0; i < node.output_count(); ++i) {
        const ir::ConstantArray value = node.kept(i);
        if (!value) return {};
        values.push_back(ir::constant(value.value()));
    }
    return values;
}

// One round: calls of calls need another.
std::vector<Tensor> inline_once(const std::vector<Tensor>& tensors, const Keep& keep,
                                bool& changed) {
    const auto is_composite = [&](const Node& node) {
        const ir::Operation& operation = node.operation();
        return !operation.lower && operation.decompose && !(keep && keep(node));
    };
    std::unordered_map<const Node*, std::vector<Tensor>> rebuilt;
    const auto current = [&](const Tensor& x) {
        const auto found = rebuilt.find(&x.node());
        return found == rebuilt.end() ? x : found->second[static_cast<size_t>(x.output_index())];
    };
    for (const Node* node : ir::topological_order(tensors)) {
        // Transforms go through them to what they were made of.
        std::vector<Tensor> values = keep ? std::vector<Tensor>() : last_values(*node);
        if (!values.empty()) {
            rebuilt.emplace(node, std::move(values));
            continue;
        }
        bool differs = false;
        std::vector<Tensor> operands;
        for (const Tensor& operand : node->operands()) {
            operands.push_back(current(operand));
            differs = differs || !(operands.back() == operand);
        }
        if (!differs && !is_composite(*node)) continue;
        const ir::LocationScope scope(*node);
        const Ref<Node> moved =
            differs ? ir::with_operands(*node, std::move(operands)) : Ref<Node>(node);
        if (is_composite(*node)) changed = true;
        rebuilt.emplace(node, is_composite(*node) ? node->operation().decompose(*moved)
                                                  : ir::outputs_of(moved));
    }
    std::vector<Tensor> result;
    for (const Tensor& x : tensors) result.push_back(current(x));
    return result;
}

}  // namespace

std::vector<Tensor> inline_calls(const std::vector<Tensor>& tensors, const Keep& keep) {
    std::vector<Tensor> result = tensors;
    for (bool changed = true; changed;) {
        changed = false;
        result = inline_once(result, keep, changed);
    }
    if (keep) return result;  // rules that keep nodes go into the bodies themselves
    return change_bodies(result, [](const auto& results) { return inline_calls(results); });
}

std::vector<Tensor> open_for_derivatives(const std::vector<Tensor>& tensors) {
    return inline_calls(tensors, [](const Node& node) { return bool(ir::vjp_of(node)); });
}

}  // namespace composit::transforms
