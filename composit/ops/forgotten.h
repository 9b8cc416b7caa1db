// Values without the operations that made them.
#pragma once

#include "composit/ir/node.h"

#include <vector>

namespace composit::ops {

// A leaf with a value that was made of tensors by operations nobody knows any more: evaluated, it
// is the value. Gradients with respect to what lies behind it, and evaluating it with other values
// for that, are a ValueError, which names the line of the leaf and the bound of the history.
ir::Tensor forgotten(const std::vector<ir::Tensor>& behind, const ir::ConstantArray& value,
                     int64_t bound);

}  // namespace composit::ops
