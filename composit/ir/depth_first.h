// Nodes in the order of their evaluation.
#pragma once

#include "composit/ir/node.h"

#include <vector>

namespace composit::ir {

// What the tensors reach, each node once, operands before users. `enter(node)` says whether it is
// met for the first time: with a set, or by marks.
template <class Enter>
std::vector<const Node*> depth_first(const std::vector<Tensor>& outputs, const Enter& enter) {
    struct Frame {
        const Node* node;
        size_t next;
    };
    std::vector<const Node*> order;
    std::vector<Frame> stack;
    for (const Tensor& output : outputs) {
        if (enter(output.node())) stack.push_back({&output.node(), 0});
        while (!stack.empty()) {
            Frame& frame = stack.back();
            if (frame.next < frame.node->operands().size()) {
                const Node& operand = frame.node->operands()[frame.next++].node();
                if (enter(operand)) stack.push_back({&operand, 0});
            } else {
                order.push_back(frame.node);
                stack.pop_back();
            }
        }
    }
    return order;
}

}  // namespace composit::ir
