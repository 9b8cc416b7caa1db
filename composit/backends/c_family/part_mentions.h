// What statements mention that a function may say.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <map>
#include <set>

namespace composit::c_family {

// What statements and those within mention, how often.
struct Mentions {
    std::map<int, int> variables, arrays;
    std::set<int> assigned, written, read;  // variables; arrays
    int weight = 0;                         // statements
    bool has_exit = false;                  // leaves the function, or the loop around it

    void add(const Mentions& other) {
        for (const auto& [variable, times] : other.variables) variables[variable] += times;
        for (const auto& [array, times] : other.arrays) arrays[array] += times;
        assigned.insert(other.assigned.begin(), other.assigned.end());
        written.insert(other.written.begin(), other.written.end());
        read.insert(other.read.begin(), other.read.end());
        weight += other.weight;
        has_exit |= other.has_exit;
    }
};
Mentions mentions_of(const ir::procedure::Procedure& procedure, const ir::procedure::Block& block);

// Whether the variable has a value of the block behind it, whichever way it took.
bool always_assigns(const ir::procedure::Block& block, int variable);

// The rows of arrays of several axes of which the statements mention one alone, by array: the index
// along the first axis, which reads none of the variables that are `assigned`.
std::map<int, ir::scalar::Expr> rows_in(const ir::procedure::Block& block,
                                        const std::set<int>& assigned);
// The statements mention such a row as an array.
void leave_out_rows(ir::procedure::Block& block, const std::map<int, ir::scalar::Expr>& rows);

}  // namespace composit::c_family
