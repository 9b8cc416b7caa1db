// Variables that are given several values, one behind the other.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same procedure, in which a value that a variable has until the same block gives it another
// one has a variable of its own, of the same name, and so have values that parameters are given by
// the procedure's own statements: derivatives need not keep what was overwritten.
//   p = p + q; x = f(p); p = g * p    to    p_2 = p + q; x = f(p_2); p = g * p_2
Procedure with_own_versions(Procedure procedure);

}  // namespace composit::ir::procedure
