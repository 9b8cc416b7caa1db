// Loops that are left by `stop` alone, and statements that are never left.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <vector>

namespace composit::ir::procedure {

// The name of variables that say whether a loop was left by `leave`: translators have it, too.
inline constexpr const char* flag_of_returns = "has_returned";

// The statements, where `leave` stands in no loop: inside, the variables `results` get the values
// and a flag, a new variable of `procedure`, is set; behind the loops it decides whether to leave.
//   for (…) { if (c) return x; }          has_returned = false; y = 0;
//   return z;                         ->  for (…) { if (c) { y = x; has_returned = true; break; } }
//                                         if (has_returned) return y;  return z;
Block without_returns_in_loops(const Block& block, Procedure& procedure,
                               const std::vector<int>& results);

// The statements of a call that becomes part of `procedure`: without `leave`, which gives the
// variables `results` values. What stands behind a return is skipped.
//   if (c) return x; return z;   ->   if (c) { y = x; } else { y = z; }
Block assigning_results(const Block& block, Procedure& procedure, const std::vector<int>& results);

}  // namespace composit::ir::procedure
