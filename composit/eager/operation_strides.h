// How results of PyTorch's elementwise operations lie in memory.
#pragma once

#include "composit/eager/strides.h"
#include "composit/ir/node.h"

#include <optional>
#include <vector>

namespace composit::eager {

// An operand of an operation, and the steps at which its elements lie.
struct PlacedOperand {
    const ir::Tensor& tensor;
    const Strides& strides;
};

// The steps of an elementwise operation's result, by PyTorch's rule: its axes follow each other in
// memory as those of the first operand that tells two of them apart do, where NumPy asks that no
// operand says the contrary. What is elementwise is read off the graph between the result and the
// operands; within it, what other operations make of them lies in row-major order, and what depends
// on none of them has no say. Nothing where another operation makes the result; one that
// is an operand is copied in the order of its axes.
std::optional<Strides> operation_strides(const ir::Tensor& result,
                                         const std::vector<PlacedOperand>& operands);

}  // namespace composit::eager
