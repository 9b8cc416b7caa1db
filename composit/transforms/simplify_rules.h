// The table of rewrites that simplify applies; each preserves every bit.
#pragma once

#include "composit/ir/node.h"

#include <string>
#include <vector>

namespace composit::transforms {

struct SimplifyRule {
    std::string operation;  // of the nodes that it looks at
    std::string doc;        // before = after, in words that are printed
    // What `node` may be replaced by: one of its ancestors, or a new node on them. Empty where the
    // rule does not apply. Never looks at the values of constants.
    ir::Tensor (*apply)(const ir::Node& node);
};

const std::vector<SimplifyRule>& simplify_rules();

// contract(b, a) for a transpose of contract(a, b) that only changes rows for columns, whole tiles
// of each, where that gives the same bits; empty for all else.
ir::Tensor swapped_product(const ir::Node& transpose);

// Exact: arrays are equal when they are the same memory, bodies when they are the same object.
bool equal_attributes(const ir::Node& a, const ir::Node& b);

}  // namespace composit::transforms
