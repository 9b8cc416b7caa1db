// Conditions, as tensors, for a node's values being errors of floating point.
#pragma once

#include "composit/ir/node.h"

#include <string>
#include <vector>

namespace composit::transforms {

using ir::Tensor;

struct ErrorCheck {
    std::string operation;  // as reports call it: a ufunc's name, "reduce", "cast"
    ir::Interned line;
    const ir::ErrorHandling* handling;
    ir::ErrorHandling::Kind kind;
    Tensor happened;  // bool, of no dimensions
};

// What NumPy would report of the node for its operands' values, as far as its ErrorHandling wants
// it; of a loop, for the nodes in its body. `flagged` are the kinds (bits of ErrorHandling::Kind)
// that the processor's flags admit: others are not asked for where every NaN and infinity of the
// node is made by arithmetic. Calls must have been inlined.
std::vector<ErrorCheck> error_checks(const ir::Node& node, uint8_t flagged);

}  // namespace composit::transforms
