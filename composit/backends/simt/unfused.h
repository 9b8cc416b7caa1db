// The members of a Fused as kernels over everything: the same bits, from one launch after the
// other. For those whose parts a group of threads cannot work on together.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <optional>
#include <vector>

namespace composit::simt {

struct Unfused {
    std::vector<ir::kernel::Kernel> kernels;
    std::vector<int64_t> local_bytes;  // of each local, for all parts, one after the other
};

// Nothing where a member moves in a way that its loops do not have.
std::optional<Unfused> unfused(const ir::kernel::Fused& fused, const ir::kernel::Program& program);

}  // namespace composit::simt
