// Names of what operations and their rules consist of, for the files that write them.
#pragma once

#include "composit/ir/operation.h"

#include <vector>

namespace composit::ops {

using ir::Attributes;
using ir::Lowering;
using ir::Node;
using ir::TensorType;
using Tensors = std::vector<ir::Tensor>;
using Wanted = std::vector<bool>;  // of gradients of operands: whether each is asked for

}  // namespace composit::ops
