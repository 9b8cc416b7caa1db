// Which loops can note what they overwrite, in order. logged_loops.h
#pragma once

#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <set>
#include <vector>

namespace composit::ir::procedure {

// Statements [begin, end) of a block: one that is logged, or those between two of them.
struct Part {
    size_t begin = 0, end = 0;
    bool is_logged = false;  // a loop or a branch with a store to one of the arrays, or a jump

    Block of(const Block& block) const {
        return {block.begin() + static_cast<std::ptrdiff_t>(begin),
                block.begin() + static_cast<std::ptrdiff_t>(end)};
    }
};
std::vector<Part> parts_of(const Block& block, const std::set<int>& arrays);

// What the head of a loop assigns that does not count; none where it counts.
std::set<int> head_of(const Statement& loop);
// What the heads of all such loops and of those that count assign, if they are logged.
std::set<int> heads_in(const Statement& loop, const std::set<int>& arrays);

// Whether a statement of the block, which is not within another one, assigns the variable.
bool is_always_assigned(const Block& block, int variable);

// Whether the loop writes to one of the arrays, and what its iterations overwrite can be logged: no
// array lives for an iteration that several parts use, and each loop within begins from what it
// does not change. `whole`: the block that the loop is in, however deep.
bool can_be_logged(const Procedure& procedure, const Block& whole, const Statement& loop,
                   const std::set<int>& arrays);

// Arrays that such a loop makes anew in each iteration, and that several parts use, are made before
// the loop, if what it overwrites can be logged then: they are among `arrays` from then on.
//   for t: s = empty(n);  s[i] = … z …;  z[i] = s[i]   to   s = empty(n);  for t: …
// If each iteration makes all arrays that change for itself, it runs again, and the loops within it
// are logged: with `goes_within`, arrays are made before those.
void make_before_loops(Procedure& procedure, std::set<int>& arrays, bool goes_within);

}  // namespace composit::ir::procedure
