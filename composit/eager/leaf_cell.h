// Leaves in the memory of something else: PyTorch's `x.detach().requires_grad_()`, and views that
// become leaves.
//
//     Ref<Cell> leaf = leaf_in(x);  // writes reach x, and x's reach it
//     leaf->tensor();               // a node of its own: gradients stop there
#pragma once

#include "composit/base/ref.h"
#include "composit/eager/cell.h"

namespace composit::eager {

// The same values as another node, through which no gradient goes: a constant where the values are
// there, on the tensor's device.
Tensor own_node(const Tensor& tensor);

// A constant of a value that a node keeps, and whose memory it goes on to have.
Tensor constant_of_kept(const Array& value, ir::DeviceNumber device);

// A cell that sees the memory of `source`, and holds an own_node of what is there.
Ref<Cell> leaf_in(const Ref<Cell>& source);

// Whether its one holder alone can see its memory: no other cell lies in it, or holds it.
bool is_alone(const Cell& cell);

// Of a cell of leaf_in's whose values have been computed: a constant takes the place of its node,
// so that it does not hold on to what its values were made from.
void forget_origin(const Cell& leaf);

}  // namespace composit::eager
