// Arrays that a loop fills, then adds to, then reads: nothing reads what an addition overwrites.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <set>

namespace composit::ir::procedure {

// The local arrays of which each iteration of a loop within `loop`, or of itself, stores all
// elements first, adds to them then and reads them last, in loops of that order. What the additions
// overwrite needs no log: the backward sweep reads the elements as they are behind the last
// addition, and what the stores overwrote comes back as a whole.
//   for t: for i: s[i] = 0; for k, i: s[i] += a[k, i]; for i: y[i] = f(s[i])
std::set<int> summed_arrays(const Procedure& procedure, const Statement& loop);

}  // namespace composit::ir::procedure
