// Orders bodies by who calls whom, and nodes by who uses whom.
#include "composit/ir/listing.h"

#include <algorithm>
#include <unordered_set>

namespace composit::ir {

std::vector<BodyRef> bodies_of(const Node& node) {
    std::vector<BodyRef> bodies;
    for (const auto& [key, value] : node.attributes().items())
        if (const BodyRef* body = std::get_if<BodyRef>(&value)) bodies.push_back(*body);
    return bodies;
}

namespace {

std::vector<Tensor> roots_of(const Body& body) {
    std::vector<Tensor> roots = body.parameters;
    roots.insert(roots.end(), body.results.begin(), body.results.end());
    return roots;
}

// A section whose callees are written first.
struct Frame {
    BodyRef body;
    std::vector<Tensor> results;
    std::vector<const Node*> order;
    std::vector<BodyRef> callees;  // last one first
};

Frame frame_of(BodyRef body, std::vector<Tensor> results, const std::vector<Tensor>& roots) {
    Frame frame{std::move(body), std::move(results), topological_order(roots), {}};
    std::unordered_set<const Body*> seen;
    for (const Node* node : frame.order)
        for (BodyRef& callee : bodies_of(*node))
            if (seen.insert(callee.get()).second) frame.callees.push_back(std::move(callee));
    std::reverse(frame.callees.begin(), frame.callees.end());
    return frame;
}

}  // namespace

std::vector<Section> sections_of(const std::vector<Tensor>& outputs) {
    std::vector<Section> sections;
    std::unordered_set<const Node*> written;
    std::unordered_set<const Body*> started;
    std::vector<Frame> stack;
    stack.push_back(frame_of(nullptr, outputs, outputs));
    while (!stack.empty()) {
        if (!stack.back().callees.empty()) {
            BodyRef callee = std::move(stack.back().callees.back());
            stack.back().callees.pop_back();
            if (!started.insert(callee.get()).second) continue;
            stack.push_back(frame_of(callee, callee->results, roots_of(*callee)));
            continue;
        }
        Frame frame = std::move(stack.back());
        stack.pop_back();
        Section section{std::move(frame.body), {}, std::move(frame.results)};
        for (const Node* node : frame.order)
            if (written.insert(node).second) section.nodes.push_back(node);
        sections.push_back(std::move(section));
    }
    return sections;
}

}  // namespace composit::ir
