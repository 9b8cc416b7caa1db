// From tensors of any dtype to tensors of those that kernels have.
#pragma once

#include "composit/ir/node.h"

#include <vector>

namespace composit::transforms {

// The same graph without complex numbers and short floats: its outputs are what lies in memory.
// Leaves stay; a lowering gives them buffers of their type in memory (ops/storage.h). Constants
// become others, unless they are inputs.
std::vector<ir::Tensor> represent(const std::vector<ir::Tensor>& outputs,
                                  bool constants_are_inputs);

}  // namespace composit::transforms
