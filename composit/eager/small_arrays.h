// Operations on small arrays whose values are known: computed at once, without nodes (deferred.h).
// A plan would take longer to find than to do.
#pragma once

#include "composit/eager/cell.h"

#include <optional>
#include <vector>

namespace composit::eager {

inline constexpr int64_t most_small_elements = 32;

// A cell, or a number where there is none.
struct SmallOperand {
    const Cell* cell = nullptr;
    Ref<Deferred> number;
};

struct SmallArray {
    Ref<Deferred> now;
    ir::ConstantArray values;
};
// row(a, b), or row(a), for a row of the table. Nothing where it has to be made as a node: there
// are more elements, values that lie on a device, are not known or not in row-major order, no such
// loop, shapes that do not broadcast, or something is to be reported.
std::optional<SmallArray> applied_to_small(const ir::scalar::RowRef& row,
                                           const std::vector<SmallOperand>& operands);

// An array of one dimension of known numbers. Nothing where they have no dtype in common that is
// deferred.
std::optional<SmallArray> stacked(std::vector<Ref<Deferred>> numbers);

}  // namespace composit::eager
