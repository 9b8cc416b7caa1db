// Memory that a cell shares with others, who may write there: libraries that take it by DLPack.
#pragma once

#include "composit/eager/cell.h"

namespace composit::eager {

// What the cell holds, computed, in memory that others may write from now on: the cell holds a
// borrowed constant, and what is computed of it later reads what is there then. Its memory is
// the cell's own where nothing else holds it, else a copy; once it is shared, each call returns the
// same. What the program writes into the cell goes to other memory, as ever.
//
// Values on a device are shared there: reading them waits for all that was asked of the device.
// Whoever gives an array away waits for the device's queue.
//
// No array for a view, and for host memory that came from elsewhere, which may be read-only: there
// is nothing to share.
Array exposed(const Ref<Cell>& cell);

}  // namespace composit::eager
