// Finds the part of a graph that may raise an error for some values. If both sides of a choice are
// computed, neither may hold such a part.
//
//   const auto part = fallible_part({otherwise}, {seen}, {});
#pragma once

#include "composit/ir/node.h"

#include <string>
#include <vector>

namespace composit::transforms {

// The part of a graph between `operands` and `results`, whose indices are known to be in bounds.
struct WithinBounds {
    std::vector<ir::Tensor> results, operands;
};

// The first node behind the border that can fail for values of its operands that are not constant:
// a foreign function, or a lookup of elements that is in none of `within` and whose indices are not
// the counters of loops around it. null if there is none.
[[nodiscard]] Ref<ir::Node> fallible_part(const std::vector<ir::Tensor>& results,
                                          const std::vector<ir::Tensor>& border,
                                          const std::vector<WithinBounds>& within);

}  // namespace composit::transforms
