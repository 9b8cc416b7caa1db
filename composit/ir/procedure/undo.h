// Arrays whose elements change after they were read: what a loop overwrites is noted, so that the
// backward sweep finds what each iteration found.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <map>
#include <set>

namespace composit::ir::procedure {

// The arrays that are made in several places: once more, maybe, while they live.
std::set<int> remade_in(const Procedure& procedure);

// The block in which these arrays, once made, are not made again: their elements are overwritten,
// with zeros where they were made of zeros, so that the old ones can be noted. `made`: those that
// are before the block.
Block without_remaking(Procedure& procedure, const Block& block, const std::set<int>& arrays,
                       std::set<int> made = {});

// What one loop overwrites of an array: the old elements and their places, in order. The tape says
// how many were noted before each iteration.
struct Undo {
    int elements = -1, places = -1, tape = -1;  // arrays
    int count = -1;                             // the variable that counts what was noted
};
using Undos = std::map<int, Undo>;  // by the array that changes

// Of the arrays, those that the loop changes and that live longer than an iteration: their logs,
// and in `out` the statements that begin them.
Undos begin_undos(Procedure& procedure, const Statement& loop, const std::set<int>& arrays,
                  Block& out);

// The place of the element that a write changes among all of the array, in order.
Expr flat_place(const Procedure& procedure, const Statement& write);

// The element that a store or an addition changes, before it does, as a new variable.
int old_element(Procedure& procedure, const Statement& write, Block& out);

// That element into the log of the array.
void note_old_element(Procedure& procedure, const Statement& write, const Undo& undo, Block& out);

// What was noted since the iteration at this place of the tape began is taken back.
void take_back(Procedure& procedure, const Undos& undos, const Expr& place, const SourceLine& line,
               Block& out);

// Without stores that the block overwrites before anything reads them, and without those of what an
// element holds anyway.
void drop_idle_stores(Block& block);

}  // namespace composit::ir::procedure
