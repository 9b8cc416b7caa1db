// Statements that a called function left in a procedure, as a function again.
#pragma once

#include "composit/backends/c_family/procedure_extents.h"
#include "composit/backends/c_family/procedure_roundings.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/source_line.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

// What is known of a procedure's variables and statements from the text around it, into which
// compilers may put it.
struct KnownAround {
    ProcedureRoundings roundings;
    std::set<size_t> sums_in_order;  // statements, in the order of all_statements
    std::set<int> naturals;          // parameters that are never negative
};

// Statements of a block, [begin, end), that a function says as well, which reads and writes what
// stands around them by parameters.
struct CalledPart {
    const ir::procedure::Block* block = nullptr;
    size_t begin = 0, end = 0;
    const ir::procedure::InlinedCall* call = nullptr;
    // The function, whose body ends with its result, if it has one. Arrays that it writes are
    // outputs, in order behind the parameters in `head`.
    ir::procedure::Procedure function;
    KnownAround known;
    int result = -1;             // the variable that gets it
    bool takes_result = false;   // what the variable was before is a parameter
    std::set<int> changed;       // of several results: variables that parameters refer to
    std::vector<int> arguments;  // of each parameter in the head: a variable, or -1 - an array
    std::map<int, ir::scalar::Expr> rows;  // of arrays of which it mentions one: which one
    std::set<size_t> allocations;          // statements that stand before the call
    std::set<const ir::procedure::Statement*> moved;  // others, which stand in the function
    // What stands in the function alone.
    std::set<int> own_variables;
    std::set<size_t> own_arrays;
};

// How a part's function looks: its text under names that do not depend on those around it, and how
// many lines it has.
struct PartText {
    std::string key;
    size_t lines = 0;
};
using Look = std::function<PartText(const CalledPart&)>;

// What the printer knows of a procedure.
struct KnownOf {
    const ProcedureRoundings& roundings;
    const std::set<const ir::procedure::Statement*>& sums_in_order;
    const Naturals& naturals;
    const std::set<int>& without_names;  // variables that stand where they are read
};

// The parts of a procedure that calls left, or calls within a call that the whole procedure is of:
// all those of functions of the library, and those of others that are there several times, if the
// text becomes shorter.
std::vector<std::unique_ptr<CalledPart>> called_parts(const ir::procedure::Procedure& procedure,
                                                      const ir::procedure::InlinedCall* within,
                                                      const KnownOf& known, const Look& look);

}  // namespace composit::c_family
