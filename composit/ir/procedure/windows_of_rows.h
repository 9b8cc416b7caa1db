// Arrays of which each iteration of a loop reaches a few neighbouring rows: no others are kept.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::ir::procedure {

// The same procedure, in which a local array of whose rows (or elements, of one axis) a few are
// alive at a time has these alone: they take each other's place when an iteration begins, and the
// one that is new gets what it holds before the loop in the whole array. What is read and written
// is the same, to the bit. For text and interpreters, after all derivatives are made, which may
// read what is not kept.
//   c = full((n + 1, m + 1), 9); for i: for j: c[i + 1, j + 1] = f(c[i, j + 1], c[i + 1, j])  to
//   c = full(m + 1, 9); for i: swap(before, c); c[0] = 9; for j: c[j + 1] = f(before[j + 1], c[j])
Procedure with_windows_of_rows(Procedure procedure);

}  // namespace composit::ir::procedure
