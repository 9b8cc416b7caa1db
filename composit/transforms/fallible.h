// What of a graph may turn out to be an error for the values that it is computed from: what both
// sides of a choice compute must not.
//
//   const auto part = fallible_part({otherwise}, {seen}, {});
#pragma once

#include "composit/ir/node.h"

#include <string>
#include <vector>

namespace composit::transforms {

// What lies between operands whose indices are known to be within bounds, and results.
struct WithinBounds {
    std::vector<ir::Tensor> results, operands;
};

// The first node behind the border that can fail for its operands' values, others than constants:
// a function of other languages, or one that looks up elements, by others than counters of loops
// around it, and lies within no such bounds. null where there is none.
[[nodiscard]] Ref<ir::Node> fallible_part(const std::vector<ir::Tensor>& results,
                                          const std::vector<ir::Tensor>& border,
                                          const std::vector<WithinBounds>& within);

}  // namespace composit::transforms
