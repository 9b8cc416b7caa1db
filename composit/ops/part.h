// A range of one axis: the slice that several rules and NumPy functions need.
#pragma once

#include "composit/ir/node.h"

#include <cstdint>

namespace composit::ops {

// Elements start … start + length - 1 along `axis`, everything along the others. One node.
ir::Tensor part(const ir::Tensor& x, int64_t axis, int64_t start, int64_t length);

}  // namespace composit::ops
