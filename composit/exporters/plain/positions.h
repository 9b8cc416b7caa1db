// Arrays of counted numbers as what they are: places in loops.
#pragma once

#include "composit/ir/kernel/kernel.h"

namespace composit::plain {

// Kernels that read 0, 1, 2, … (or steps of another size) from an array that a kernel fills with
// them compute the number instead; the array is gone if nobody else reads it. No bit changes.
//   at = counted[i];   is   at = i;
ir::kernel::Program with_positions_in_place(ir::kernel::Program program);

}  // namespace composit::plain
