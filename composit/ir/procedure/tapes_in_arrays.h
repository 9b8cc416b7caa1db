// Tapes of derivatives that hold what another array of the procedure holds.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same procedure, which reads the values that a variable had when iterations began from the
// array to which the loop stores them at their ends, in place of a tape, if nothing else writes
// there: filters and integrators keep their states in any case.
//   x[0] = s; for k = 1 to n: tape[k - 1] = s; s = f(s); x[k] = s; …; for k: g(tape[k - 1])  to
//   x[0] = s; for k = 1 to n: s = f(s); x[k] = s; …; for k: g(x[k - 1])
Procedure with_tapes_in_arrays(Procedure procedure);

}  // namespace composit::ir::procedure
