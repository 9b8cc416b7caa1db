// How a reduction or a scan combines its elements.
#pragma once

#include "composit/ir/kernel/kernel.h"
#include "composit/ir/node.h"

namespace composit::ops {

// Of a node of `reduce` or `scan`.
inline ir::kernel::Combiner combiner_of(const ir::Node& node) {
    return static_cast<ir::kernel::Combiner>(node.attributes().get<int64_t>("combiner"));
}

}  // namespace composit::ops
