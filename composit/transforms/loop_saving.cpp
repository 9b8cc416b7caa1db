// What a loop's derivative takes from the iterations instead of computing it again.
#include "composit/ir/attribute.h"
#include "composit/ir/operation.h"
#include "composit/transforms/loop.h"

#include <unordered_set>

namespace composit::transforms {
namespace {

using ir::Node;
using ir::Tensor;

int64_t bytes_of(const Tensor& x) { return x.size() * ir::size_of(x.dtype()); }

// Whether each element takes longer to compute than to write and read.
bool is_costly(const Tensor& x) {
    constexpr int64_t least_depth = 64;
    const Node& node = x.node();
    if (node.operation().name == "convolve") return true;
    if (node.operation().name != "contract") return false;
    int64_t depth = 1;
    for (int64_t axis : node.attributes().get<std::vector<int64_t>>("contracted_a"))
        depth *= node.operand(0).shape()[static_cast<size_t>(axis)];
    return depth >= least_depth;
}

}  // namespace

std::vector<Tensor> products_to_save(const LoopParts& parts, const std::vector<Tensor>& back,
                                     int64_t most_bytes) {
    std::unordered_set<const Node*> changing{&parts.counter().node()};  // in each iteration
    for (size_t k = 0; k < parts.states; ++k) changing.insert(&parts.parameter(k).node());
    for (const Node* node : ir::topological_order(parts.body.results))
        for (const Tensor& operand : node->operands())
            if (changing.contains(&operand.node())) changing.insert(node);
    std::vector<Tensor> result;
    std::unordered_set<const Node*> seen;
    for (const Node* node : ir::topological_order(back))
        for (const Tensor& operand : node->operands()) {
            if (!changing.contains(&operand.node()) || !is_costly(operand)) continue;
            if (!seen.insert(&operand.node()).second || bytes_of(operand) > most_bytes) continue;
            most_bytes -= bytes_of(operand);
            result.push_back(operand);
        }
    return result;
}

}  // namespace composit::transforms
