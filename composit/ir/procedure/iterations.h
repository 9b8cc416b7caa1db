// What the iterations of a loop have to do with one another: elements of their own, checks that
// say the same in each.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <optional>

namespace composit::ir::procedure {

// The variable of a loop that counts up or down by a constant, which its body does not change.
std::optional<int> stepped_by(const Statement& loop);

// Whether no two iterations of a loop touch one element of the array: along one axis, all indices
// of the loop's body are the counter and one constant.
//   for i: x[i + 1, k] = x[i + 1, k - 1]   yes
//   for i: x[i + 1] = x[i]                 no
bool has_own_elements(const Procedure& procedure, const Block& body, int counter, int array);

// Whether the loop is one to make vectors of: innermost, without choices and checks, calling
// functions, and whatever it writes, each iteration writes elements of its own.
bool is_for_vectors(const Procedure& procedure, const Statement& loop);

// The procedure with assertions that say the same in all iterations of a loop before the loop, so
// that they ask once, and loops without them become vectors. The first that fails stays the first.
Procedure with_checks_ahead(Procedure procedure);

}  // namespace composit::ir::procedure
