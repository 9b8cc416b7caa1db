// The order in which the statements of a loop must run if the loop is split into several loops.
#pragma once

#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <set>
#include <vector>

namespace composit::ir::procedure {

// How the statements of a counted loop's body depend on one another. A loop or branch among them is
// one statement.
struct IterationOrder {
    // after[i][k]: statement k runs after statement i, of this iteration or of an earlier one.
    // carried[i][k]: of an earlier one; the two reach one element in different iterations.
    std::vector<std::vector<char>> after, carried;
    // Statements that depend on one another have one number; those of no others, and not on
    // themselves in earlier iterations, are free: their iterations may run in any order.
    std::vector<int> group;
    std::vector<char> is_free;
};

// `own`: variables that no iteration hands on. Elements of arrays are told apart where an axis has
// the counter and constants as indices, or different ones that no iteration changes.
//   for i: t = x[i] / 3; s = s + t; y[i + 1] += t; y[i] += t
//   t, then s; t, then y[i + 1], then y[i] of a later iteration; all but s are free
IterationOrder order_in(const Procedure& procedure, const Statement& loop,
                        const std::set<int>& own);

}  // namespace composit::ir::procedure
