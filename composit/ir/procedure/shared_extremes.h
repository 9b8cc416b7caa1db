// The largest or smallest of a loop's values: its equals share its gradient.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same procedure for derivatives to be made of. Of a loop that does nothing but find an
// extremum,
//   for (…) m = maximum(m, e)   to   for (…) raw = maximum(raw, held(e))
//                                    for (…) if (!(e < raw)) { equal += 1; total += e }
//                                    m = stand_in(raw, total / equal)
// so that a derivative asks no iteration for what the one before has found, and all elements that
// are the extremum get the same part (stand_ins.h).
Procedure with_extremes_shared(Procedure procedure);

}  // namespace composit::ir::procedure
