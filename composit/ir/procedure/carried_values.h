// Names for what the iterations of a loop hand on, and what they make of it.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <set>

namespace composit::ir::procedure {

// In the body of a loop, what a variable that is handed on holds gets a name in each iteration:
// what it has at first, and what each statement gives it. What reads the names may run apart from
// the chain of values. Not for variables that one statement alone mentions, as a sum does, and not
// for those that branches or inner loops change. `own`: variables that no iteration hands on.
//   y[i] = f(v); v = a * v + x[i]  to  v_2 = v; y[i] = f(v_2); v_3 = a * v_2 + x[i]; v = v_3
void name_carried_values(Procedure& procedure, Block& body, const std::set<int>& own);

// The same procedure, whose innermost loops keep in variables what they store, as far as the same
// iteration or one of the next two reads it, and read once what stays of an array that they write
// to: compilers read it from memory again, where others may have been written. The loop runs in a
// branch, as the first elements are read before it.
//   for j: y[j] = f(y[j - 1], x[j])  to  if (begin < end) v = y[begin - 1]; for j: v = f(v, x[j]);
//   y[j] = v
// carried_elements.cpp
Procedure with_carried_elements(Procedure procedure);

}  // namespace composit::ir::procedure
