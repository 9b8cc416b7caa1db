// Elements that both sweeps of a call read.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::c_family {

// The same procedure, in which the backward sweeps of calls of functions of the library load the
// elements that their forward sweeps loaded again: two functions hand on none.
ir::procedure::Procedure with_own_loads(ir::procedure::Procedure procedure);

}  // namespace composit::c_family
