// Looks for graphs that cannot be right: a check of passes, plugins and parsed text.
#pragma once

#include "composit/ir/node.h"

#include <vector>

namespace composit::ir {

// Every node that `outputs` reach, in bodies too: operands exist, operands and attributes satisfy
// the operation's check, and the types are those that it infers. ValueError naming the node, by
// number in print(outputs), and the user's source line. Iterative.
void verify(const std::vector<Tensor>& outputs);

}  // namespace composit::ir
