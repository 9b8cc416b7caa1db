// Procedures whose blocks end at their ends: `scf` has no return in the middle, no break and no
// continue.
#pragma once

#include "composit/ir/procedure/procedure.h"

namespace composit::mlir {

// The same procedure without `stop` and `go_on`, and with one `leave`, the last statement. What
// stands behind a way out moves to the other side of its branch, or asks flags, new variables,
// which ways out set; a loop asks them in its condition. No statement is there twice.
//
//   while (a) { if (b) break; x; }   to   has_stopped = false;
//                                         while (a & !has_stopped) {
//                                             if (b) has_stopped = true; else x; }
//   if (a) return 1; return 2;       to   if (a) y = 1; else y = 2; return y;
[[nodiscard]] ir::procedure::Procedure without_exits(const ir::procedure::Procedure& procedure);

}  // namespace composit::mlir
