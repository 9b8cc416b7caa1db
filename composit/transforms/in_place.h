// Whether kernels may write a buffer where another lies that they have read: what a loop leaves to
// its next iteration, and results in the memory of donated arguments.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <vector>

namespace composit::transforms {

bool touches(const std::vector<int>& buffers, int buffer);

// Whether the kernels, one after the other, may write `next` over `place`, of equal size: nobody
// reads that any more, or a map reads of it what the same index writes.
bool may_write_in_place(const std::vector<ir::kernel::Kernel>& kernels,
                        const ir::kernel::Access& place, const ir::kernel::Access& next);

// The one buffer in the place of the other in all kernels, also in those of a Repeat. Maps that
// then write every element where they read it are left out.
void replace_buffer(std::vector<ir::kernel::Kernel>& kernels, int replaced, int by);

}  // namespace composit::transforms
