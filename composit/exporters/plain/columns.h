// Operands of products with the columns of their sums side by side in memory.
#pragma once

#include "composit/ir/kernel/kernel.h"

namespace composit::plain {

// Products along whose sums neither operand runs through memory read a copy of one in which an axis
// is the last one: what stands side by side is what compilers make vectors of. A constant that
// nothing else reads is stored so. Another constant is stored a second time, and any other array is
// copied by a kernel before the product, if that has at least 16 operations for each element. No
// bit changes.
//   for n, f: sums of a[n, k] * w[f, k]   reads   w_transposed[k, f]
ir::kernel::Program with_columns_side_by_side(ir::kernel::Program program);

}  // namespace composit::plain
