// A walk from the results to the border, through bodies of calls and loops.
#include "composit/transforms/fallible.h"

#include "composit/ir/body.h"
#include "composit/ir/operation.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace composit::transforms {
namespace {

using ir::Node;
using Nodes = std::unordered_set<const Node*>;

Nodes nodes_behind(const std::vector<ir::Tensor>& tensors) {
    Nodes nodes;
    for (const ir::Tensor& tensor : tensors) nodes.insert(&tensor.node());
    return nodes;
}

Nodes nodes_within(const std::vector<WithinBounds>& within) {
    Nodes found;
    for (const WithinBounds& each : within) {
        const Nodes ends = nodes_behind(each.operands);
        std::vector<const Node*> left;
        for (const ir::Tensor& result : each.results) left.push_back(&result.node());
        while (!left.empty()) {
            const Node* node = left.back();
            left.pop_back();
            if (ends.contains(node) || !found.insert(node).second) continue;
            for (const ir::Tensor& operand : node->operands()) left.push_back(&operand.node());
        }
    }
    return found;
}

bool looks_up_elements(const Node& node) {
    const std::string_view name = node.operation().name;
    return name == "gather" || name == "scatter";
}

// Whether each index is a constant or one of these counters.
bool has_known_indices(const Node& node, const Nodes& counters) {
    const auto count = node.attributes().get<std::vector<int64_t>>("axes").size();
    const auto& operands = node.operands();
    return std::all_of(operands.begin() + 1, operands.begin() + 1 + static_cast<int64_t>(count),
                       [&](const ir::Tensor& index) {
                           return ir::is_constant(index.node()) || counters.contains(&index.node());
                       });
}

const ir::Body* body_within(const Node& node) {
    const ir::Attribute* attribute = node.attributes().find("body");
    const auto* body =
        attribute ? std::get_if<std::shared_ptr<const ir::Body>>(attribute) : nullptr;
    return body ? body->get() : nullptr;
}

}  // namespace

Ref<ir::Node> fallible_part(const std::vector<ir::Tensor>& results,
                            const std::vector<ir::Tensor>& border,
                            const std::vector<WithinBounds>& within) {
    const Nodes edge = nodes_behind(border), total = nodes_within(within);
    Nodes counters, met = nodes_behind(results);
    std::vector<const Node*> left;
    for (const ir::Tensor& result : results) left.push_back(&result.node());
    while (!left.empty()) {
        const Node* node = left.back();
        left.pop_back();
        if (edge.contains(node)) continue;
        const bool may_miss = looks_up_elements(*node) && !total.contains(node);
        if (node->operation().is_opaque() || (may_miss && !has_known_indices(*node, counters)))
            return Ref<ir::Node>(node);
        const auto visit = [&](const ir::Tensor& each) {
            if (met.insert(&each.node()).second) left.push_back(&each.node());
        };
        for (const ir::Tensor& operand : node->operands()) visit(operand);
        if (const ir::Body* body = body_within(*node)) {
            if (node->operation().name == "loop") counters.insert(&body->parameters[0].node());
            for (const ir::Tensor& result : body->results) visit(result);
        }
    }
    return {};
}

}  // namespace composit::transforms
