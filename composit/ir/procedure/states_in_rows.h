// Arrays whose every state a derivative in reverse needs.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same procedure, in which an array of which each iteration of a loop logs and stores all
// elements, and which the way back takes from the log, is an array of rows, one for each state: it
// is read where it stands, nothing is logged, copied or put back. What an iteration computes in an
// array of its own and then copies is computed in the next row at once. Of text that people read;
// what is loaded runs faster as it was, where inner loops read such a row again and again.
//   for i: for j: y[j] = f(x, j); for j: log(x[j]), x[j] = y[j]; …
//   for i down: for j down: x[j] = take(log); g(x)  to
//   for i: for j: rows[i + 1, j] = f(rows[i], j); …; for i down: g(rows[i])
Procedure with_states_in_rows(Procedure procedure);

}  // namespace composit::ir::procedure
