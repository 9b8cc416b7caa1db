// What is the same in every call of a program, computed once.
#pragma once

#include "composit/ir/node.h"

#include <vector>

namespace composit::execute {

// `outputs` in which tensors that depend on no placeholder are constants of the same bits: the
// gates of a network that a model's file joins anew in each call, the scale of a batch
// normalisation. A constant made of one with a name, which nothing else needs, has that name.
//
// Left as they are: what would take more memory than the constants that it is made of (a range, a
// mask), or all together more than all constants, views of one constant, what may fail for its
// values, memory that others can write, values on a device. For models whose constants stay: who
// replaces one afterwards changes nothing.
std::vector<ir::Tensor> fold_constants(const std::vector<ir::Tensor>& outputs);

}  // namespace composit::execute
