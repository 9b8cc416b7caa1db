// Arrays that a loop fills in turns, `u, new = new, u`, and whose old elements it logs.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same procedure, in which each iteration of such a loop has an array of its own, behind those
// of the iterations before, in place of two arrays and a log: the reverse sweep reads what it wants
// where it stands. What an iteration does not give a value has that of two iterations before.
//   for t: (for i: log(new[i]); new[i] = f(u[i - 1], u[i + 1])); u, new = new, u
//   for t back: u, new = new, u; (for i back: new[i] = log; … u[i - 1], u[i + 1] …)  to
//   s[0] = new; s[1] = u; for t: ends of s[t + 2] = s[t]; for i: s[t + 2, i] = f(s[t + 1, i - 1],
//   …) for t back: … s[t + 1, i - 1], s[t + 1, i + 1] …
Procedure with_states_kept(Procedure procedure);

}  // namespace composit::ir::procedure
