// Elements that change for a while in which nobody reads them.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The procedure without writes to an element that gets its old value back before anything reads
// the array. A derivative that runs an iteration again has such ones.
//   before = a[i]; a[i] += v; …; a[i] = before   to   …
Procedure without_idle_stores(Procedure procedure);

}  // namespace composit::ir::procedure
