// Procedures run statement by statement, where nothing is compiled: the same bits, slowly.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <functional>
#include <vector>

namespace composit::ir::procedure {

using scalar::Bits;

// The results for values of the parameters. `arrays`: the elements of the inputs, then of the
// outputs, in their order, dense, of the shapes that the parameters say. IndexError, with the
// line, for an assertion that does not hold, ValueError for an extent that is negative.
std::vector<Bits> interpret(const Procedure& procedure, const std::vector<Bits>& parameters,
                            void* const* arrays);

// Fills the outputs and returns the results; arguments as those of `interpret`. Any thread calls
// it.
using Run =
    std::function<std::vector<Bits>(const std::vector<Bits>& parameters, void* const* arrays)>;
// Runs a procedure by interpret, many times: what has to be known of it is found once.
Run interpreted(Procedure procedure);

// The extents of an array for values of the parameters; negative ones are none.
std::vector<int64_t> shape_of(const ArrayVariable& array, const std::vector<Bits>& parameters);

// The kind of claim whose error has the name: "ValueError", …; an assertion for "".
// KeyError for names of no kind.
Claim::Kind claim_kind(const std::string& error);

// Where an assertion did not hold: runs what the user wrote with the same arguments, and throws
// what its assertion says, with the values, in the class of its claim. Returns where
// nothing is known of it, or where it would take millions of statements.
void tell_failure(const Procedure& procedure, const std::vector<Bits>& parameters,
                  void* const* arrays);

// What is raised for any other assertion, by compiled code as well; `mark` names file and line.
[[noreturn]] void fail_assertion(const Procedure& procedure, const std::string& mark);
// For an array that is made with a negative extent.
[[noreturn]] void fail_extent(const Procedure& procedure, const std::string& mark);

}  // namespace composit::ir::procedure
