// Which derivatives may be infinite where the function has a finite value: behind sqrt, powers and
// their like. Products with those are 0 where the other factor is: sqrt(v * t) at v = 0 does not
// depend on t.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <set>

namespace composit::ir::procedure {

// Whether the operation, one alone, has an infinite slope at a point of its domain.
bool is_pole(const Expr& expr);
// Whether a derivative through the expression passes one.
bool passes_pole(const Expr& value);

// The variables, and the arrays as -1 - number, whose tangents (adjoints) may be infinite in a
// block: what follows on poles (what they are computed of).
std::set<int> infinite_tangents(const Block& body);
std::set<int> infinite_adjoints(const Block& body);

}  // namespace composit::ir::procedure
