// What of a loop's values is worth a loop of its own, of vectors.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <map>
#include <set>

namespace composit::ir::procedure {

// What vectors save of values, in about the time of an addition: of quotients and functions. What
// is cheaper gains less than it takes to keep values between loops.
int vector_cost(const std::vector<Expr>& values);

// A sum that goes on through the iterations of a loop which assigns these variables: compilers make
// vectors of what it adds up.
bool is_running_sum(const Statement& statement, const std::map<int, int>& assigned);

// Quotients and functions within values of a loop's body get variables, each before the statement
// that reads it: they may run apart from what is made of them. Not those that a choice may leave
// out. `own`: variables that no iteration hands on.
void name_parts(Procedure& procedure, Block& body, int counter, const std::set<int>& own);

// The loop without its own allocations of small arrays that need no zeros: they may as well stand
// `ahead` of it.
Statement without_own_arrays(const Procedure& procedure, Statement loop, Block& ahead);

}  // namespace composit::ir::procedure
