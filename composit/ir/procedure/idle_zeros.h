// Zeros that arrays are filled with although nothing reads them.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same procedure, whose arrays are not filled with zeros where the statements behind give each
// element a value before anything reads it: loops over all that an array has, or elements and
// loops over the rest. `outputs_alone`: those of outputs, whose elements are stored; else what is
// added to a zero is stored, too, as 0 + v, which has the bits of the sum.
//   x = zeros(n); x[0] = a; for k = 1 to n: x[k] = x[k - 1] + b  to
//   x = room for n; x[0] = a; …
Procedure without_idle_zeros(Procedure procedure, bool outputs_alone);

}  // namespace composit::ir::procedure
