// Nodes as Python sees them.
#pragma once

#include "composit/ir/node.h"
#include "composit/ir/picture.h"

#include <nanobind/nanobind.h>

#include <vector>

namespace composit::python {

// Class Node: equal and hashed by identity of the node.
struct NodeHandle {
    Ref<ir::Node> node;
};

// Boxes as (name, label, other attributes, None), clusters with what is in them behind.
nanobind::list items_of_picture(const std::vector<ir::PictureItem>& items);

}  // namespace composit::python
