// Nodes as Python sees them.
#pragma once

#include "composit/ir/node.h"

namespace composit::python {

// Class Node: equal and hashed by identity of the node.
struct NodeHandle {
    Ref<ir::Node> node;
};

}  // namespace composit::python
