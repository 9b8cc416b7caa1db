// Reductions of a few elements as plain expressions, which fuse with their neighbours.
#pragma once

#include "composit/ir/operation.h"
#include "composit/ops/ops.h"

#include <optional>

namespace composit::ops {

// The reduction of `x` over `axes` (sorted) as a nest of `shape`, which keeps reduced axes with
// length 1 or leaves them out; nothing where they hold too many elements. The same bits as
// kernel::Reduce.
std::optional<ir::Nest> small_reduction(const ir::Nest& x, Combiner combiner, const Axes& axes,
                                        const ir::Shape& shape);

}  // namespace composit::ops
