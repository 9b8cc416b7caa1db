// Sums of loops that compilers must not take for reductions.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <set>

namespace composit::c_family {

// The statements that add to a variable, or to an element, to which one iteration of a loop may add
// more than once, those of loops within included, which compilers may unroll. g++ 11 to 13 take
// these for one reduction in order, and where the terms do not lie in memory in that order, they
// add some twice and others never: sum += x[i][1]; sum += x[i][0].
//
// Source: GCC's bug 110381, double counting for sum of structs of floating point types.
std::set<const ir::procedure::Statement*> sums_in_order(const ir::procedure::Procedure& procedure);

}  // namespace composit::c_family
