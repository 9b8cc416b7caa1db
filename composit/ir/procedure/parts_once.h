// Parts of values that several statements have.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same procedure, which computes parts of values that several statements of a block have, or
// statements within them, once, before the first one that computes them anyway: parts of four
// operations or more, and calls of functions.
//   x[i] += c(a) * g; y[i] += c(a) * h  to  c = c(a); x[i] += c * g; y[i] += c * h
// Parts that a choice may leave out stay where they are if `but_for_chosen`, as before a derivative
// is made; else parts that call functions, and conditions, alone get variables.
Procedure with_parts_once(Procedure procedure, bool but_for_chosen = false);

}  // namespace composit::ir::procedure
