// The order in which a graph is written down: bodies of calls first, then the graph itself.
#pragma once

#include "composit/ir/body.h"
#include "composit/ir/node.h"

#include <memory>
#include <vector>

namespace composit::ir {

using BodyRef = std::shared_ptr<const Body>;

// The nodes of one body, or of the graph itself (body null, last), that no earlier section holds;
// operands before users. A body comes before the sections that call it.
struct Section {
    BodyRef body;
    std::vector<const Node*> nodes;
    std::vector<Tensor> results;
};

// Iterative; depends on structure only. The nodes are alive while `outputs` are.
std::vector<Section> sections_of(const std::vector<Tensor>& outputs);

// The bodies among a node's attributes.
std::vector<BodyRef> bodies_of(const Node& node);

}  // namespace composit::ir
