// Elements that are read and stored again, larger by something.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same procedure, to the bit, in which what is added to an element is an addition: nobody needs
// the old element of one, so a loop that only adds to an array changes nothing that it reads.
//   v = x[i]; x[i] = v + a   to   x[i] += a, of floats, where nothing else reads v, or another
//   element of x
Procedure with_additions(Procedure procedure);

}  // namespace composit::ir::procedure
