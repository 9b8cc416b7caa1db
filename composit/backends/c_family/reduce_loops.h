// The loops of reductions and scans: those that are kept, in the order of the output's memory, and
// those that run in order.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <vector>

namespace composit::c_family {

struct ReduceLoops {
    ir::kernel::Extents kept, ordered;       // merged
    std::vector<ir::kernel::Access> inputs;  // strides over kept, then ordered
    ir::kernel::Access output;               // over kept; of a scan over kept and the ordered one

    explicit ReduceLoops(const ir::kernel::Reduce& reduce);
    explicit ReduceLoops(const ir::kernel::Scan& scan);

    // Whether neighbours along the last kept loop lie closer in memory than those in order.
    bool runs_along_columns() const;
};

}  // namespace composit::c_family
