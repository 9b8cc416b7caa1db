// What the sweeps of reverse accumulation tell one another.
#pragma once

#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/undo.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace composit::ir::procedure {

// Which adjoints are zero, whatever their variables hold: the next contribution is assigned.
struct Zeros {
    bool by_default = true;
    std::set<int> exceptions;

    bool contains(int variable) const {
        return exceptions.contains(variable) ? !by_default : by_default;
    }
    void set(int variable, bool is_zero) {
        if (is_zero == by_default)
            exceptions.erase(variable);
        else
            exceptions.insert(variable);
    }
};

// What a logged loop, and those within it, overwrite, in order. logged_loops.h
struct Logs {
    std::map<int, int> of;      // variable, or array as -1 - number -> the array that is its log
    std::map<int, int> places;  // array -> the log of the places in it
    std::map<int, int> assignments, mentions;  // in the loop
    std::set<int> heads;                       // variables that the heads of logged loops assign
    std::set<int> before;  // variables whose values before an assignment are logged
    std::set<int> found;   // those that the backward sweep has when an iteration begins
    std::set<int> summed;  // arrays of which what additions overwrite is not logged
};

// The variables that a part of a logged block assigns and others read: of which the value before it
// is logged, and of which the one behind it is, as no iteration reads one of another. Where a
// statement reads nothing that the loop changes, or what the backward sweep has put back by then,
// it runs again instead, if that takes no longer than a log. Of what only conditions of branches
// read, these log what they find.
struct Pushed {
    std::vector<int> before, behind;
    Block again;
    std::optional<size_t> again_after;  // the adjoints of this part; none: the block's beginning
};

// What the backward sweep has to know of a statement's forward one.
struct Record {
    int saved = -1;         // the variable that holds what an assignment or a store overwrote
    int taken = -1;         // the variable that holds a branch's condition
    bool is_known = false;  // whether the condition is computed again
    int trips = -1;  // the variable that counts a loop's iterations, where they are not known
    Expr begin;      // of a counted loop
    std::map<int, int> tapes;    // of a loop: variable -> the array of its values
    std::set<int> sums;          // of a loop: those whose tape has the values behind an iteration
    std::map<int, int> saves;    // of a loop: variable -> the one that holds its value before
    Undos undos;                 // of a loop
    bool is_logged = false;      // of a loop or a branch
    std::shared_ptr<Logs> logs;  // of a logged loop that is in no other one
    Pushed pushed;               // of the first statement of a part
    std::vector<Record> body, otherwise;
};

}  // namespace composit::ir::procedure
