// Writes into memory that is known and that nobody else can see: in place. The graph is what it
// would be anyway; the new node takes the value of the old one with it.
#pragma once

#include "composit/eager/cell.h"

#include <cstdint>
#include <vector>

namespace composit::eager {

// Writes the element at a place, in row-major order, of a cell or a view of one, where both are
// known and the value is of the cell's dtype or fits it without loss. False where another way has
// to be taken: nothing has changed then.
bool write_element(const Cell& cell, int64_t place, const Ref<Deferred>& value);

// Writes a value into a region of a cell that is no view and whose value is known; it holds `after`
// then. The value, of the cell's dtype and the region's shape, is computed now: its errors come
// here. False as above.
bool write_region(const Cell& cell, const Region& region, const Tensor& value, Tensor after);

}  // namespace composit::eager
