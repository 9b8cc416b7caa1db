// Conditions that cost no more to ask again than to keep.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <set>
#include <string>

namespace composit::ir::procedure {

// The name of variables that say what a choice with statements in it has found: translators have
// it, too.
inline constexpr const char* name_of_choices = "chosen";

// The same procedure, in which branches ask what a variable is that has none of the `names`, if it
// is a comparison of variables and constants that nothing changes before the last of them.
//   b = x < y; if (b) …; if (b) …   to   if (x < y) …; if (x < y) …
// What is known behind a branch that computes something for it is asked there:
//   b = false; if (x < y) { z = …; b = z < y; } if (b) …
//   to   if (x < y) z = …; if (x < y & z < y) …
Procedure with_conditions_again(Procedure procedure, const std::set<std::string>& names);

}  // namespace composit::ir::procedure
