// Preparations of reverse accumulation.
#pragma once

#include "composit/ir/procedure/procedure.h"
#include "composit/ir/procedure/structure.h"

#include <functional>
#include <optional>
#include <set>
#include <vector>

namespace composit::ir::procedure {

// Whether an operation computes long enough to be kept: a function of floats.
bool is_named_call(const Expr& expr);

// The parts of a value that a choice in it may leave out.
std::set<const scalar::ExprNode*> chosen_from(const Expr& value);

// The variable that takes the place of a part of a value, if it is to have one: `computed` is the
// part with variables in place of its own parts.
using NameForPart = std::function<Expr(const Expr& part, const Expr& computed)>;

// The first value of a statement with variables in place of parts. `name_for` is asked operands
// before users; not for those that a choice may leave out, nor for what an assignment assigns.
Expr with_named_parts(const Statement& statement, const NameForPart& name_for);

// The values of functions get variables, which are added to `procedure`: derivatives are made of
// them. Not those that a choice may leave out.
void name_calls(Block& block, Procedure& procedure);

// The floating variables that the values read.
std::vector<int> floats_read(const std::vector<Expr>& values);

// Those through which a derivative may reach the values: not what only conditions read.
std::vector<int> derived_from(const std::vector<Expr>& values);

// What a statement gives a value, and through what a derivative may reach it: variables, and arrays
// as -1 - number.
struct ValueFlow {
    int to = 0;
    std::vector<int> from;
};
std::optional<ValueFlow> flow_of(const Statement& statement);

// Variables, and arrays as -1 - number, that depend on floating parameters and inputs.
std::set<int> varied_in(const Procedure& procedure, const Block& body);

// Those of them that
// `results`, which are variables, and outputs depend on.
std::set<int> active_in(const Procedure& procedure, const Block& body,
                        const std::vector<int>& results);

// Whether a loop's iterations may run in any order: of what one leaves to others, all only add to
// it, and so to the variables that are read behind the loop, `outliving` it. Sums differ by
// rounding.
bool is_in_any_order(const Procedure& procedure, const Block& body, int counter,
                     const std::set<int>& outliving);

// The first of the block's own assignments to the variable.
Block::const_iterator assignment_of(const Block& block, int variable);

// Of the `carried` variables of a loop's body, those that each iteration adds something to before
// anything else reads them: nobody needs the old value, adjoints neither.
std::set<int> sums_in(const Procedure& procedure, const Block& body, const std::set<int>& carried);

// The loop that runs `body` for each number of the count, from the last to the first, if it began
// at `begin`.
Statement counted_back(const Procedure& procedure, const Count& count, const Expr& begin,
                       Block body, const SourceLine& line);

}  // namespace composit::ir::procedure
