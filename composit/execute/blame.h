// After an error that depends on values: which line of the user's program it belongs to.
#pragma once

#include "composit/base/error.h"
#include "composit/execute/execute.h"

#include <string>
#include <vector>

namespace composit::execute {

// Throws `error` again, behind its text the source line of the first gather or scatter, in
// topological order, with an index that is out of bounds; or of the first foreign function that
// fails. Evaluates operands again, one node after the other: plans are shared by graphs of equal
// structure, so they cannot know the line.
[[noreturn]] void rethrow_with_line(const IndexError& error, const std::vector<Tensor>& outputs);
[[noreturn]] void rethrow_with_line(const LinAlgError& error, const std::vector<Tensor>& outputs);

// evaluate, but errors are thrown as the back end threw them.
std::vector<Array> evaluate_without_blame(const std::vector<Tensor>& outputs,
                                          const Options& options);

}  // namespace composit::execute
