// Loops that search: what they do once they have found it is done behind them.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The block, in which what a loop computes right before it ends early stands behind the loop, which
// keeps its counter, if it changes no arrays: the derivative goes through the place that was found,
// not through the loop.
//   for i < n:                    for i < n: if t <= x[i]: break
//       if t <= x[i]:             found = i < n
//           y = f(x[i])    to     if found: y = f(x[i])
//           break
Block with_searches_apart(const Block& block, Procedure& procedure);

}  // namespace composit::ir::procedure
