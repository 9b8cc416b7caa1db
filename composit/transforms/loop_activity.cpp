// Which of a loop's states have a part in a derivative. Those that have none carry no zeros along,
// which infinities and NaN would multiply.
#include "composit/transforms/loop.h"

#include <unordered_set>

namespace composit::transforms {
namespace {

using ir::Node;
using ir::Tensor;

// Of a state's value after an iteration: the operands that it depends on.
std::vector<size_t> read_by(const LoopParts& parts, size_t state) {
    std::unordered_set<const Node*> nodes;
    for (const Node* node : ir::topological_order({parts.body.results[state]})) nodes.insert(node);
    std::vector<size_t> found;
    for (size_t k = 0; k < parts.operands(); ++k)
        if (nodes.contains(&parts.parameter(k).node())) found.push_back(k);
    return found;
}

}  // namespace

std::vector<bool> useful_states(const LoopParts& parts, const std::vector<Tensor>& gradients) {
    std::vector<bool> useful(parts.states);
    std::vector<size_t> pending;
    const auto use = [&](size_t k) {
        if (k >= parts.states || useful[k]) return;
        useful[k] = true;
        pending.push_back(k);
    };
    for (size_t k = 0; k < parts.states; ++k)
        if (gradients[k]) use(k);
    while (!pending.empty()) {
        const size_t state = pending.back();
        pending.pop_back();
        for (const size_t k : read_by(parts, state)) use(k);
    }
    return useful;
}

std::vector<bool> moving_states(const LoopParts& parts, const std::vector<Tensor>& tangents) {
    std::vector<std::vector<size_t>> reads;
    for (size_t k = 0; k < parts.states; ++k) reads.push_back(read_by(parts, k));
    std::vector<bool> moving;
    for (const Tensor& tangent : tangents) moving.push_back(static_cast<bool>(tangent));
    for (bool grew = true; grew;) {
        grew = false;
        for (size_t state = 0; state < parts.states; ++state) {
            if (moving[state]) continue;
            for (const size_t k : reads[state]) moving[state] = moving[state] || moving[k];
            grew |= moving[state];
        }
    }
    moving.resize(parts.states);
    return moving;
}

}  // namespace composit::transforms
