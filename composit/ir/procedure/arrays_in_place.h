// Arrays, and elements of inputs, that are copies of others.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same procedure without local arrays that hold nothing but what an input holds, which is read
// in their place, and without those whose elements become those of an output at the end, which
// takes their place from the start.
//   y = copy of dy; … y …; dx = copy of y    to    dx = copy of dy; … dx …
Procedure with_arrays_in_place(Procedure procedure);

// The same procedure, in which branches that read an element of an input that another branch before
// has loaded load it themselves: the variable lives in one branch.
Procedure with_inputs_read_again(Procedure procedure);

}  // namespace composit::ir::procedure
