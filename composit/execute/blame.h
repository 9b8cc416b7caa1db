// After an error that depends on values: which line of the user's program it belongs to.
#pragma once

#include "composit/base/error.h"
#include "composit/execute/execute.h"

#include <string>
#include <vector>

namespace composit::execute {

// The source line of the first gather or scatter, in topological order, with an index that is out
// of bounds; empty when it has none. Evaluates indices again, one node after the other: plans are
// shared by graphs of equal structure, so they cannot know the line.
std::string line_of_wrong_index(const std::vector<Tensor>& outputs);

// Throws `error` again, with the line behind its text where there is one.
[[noreturn]] void rethrow_with_line(const IndexError& error, const std::vector<Tensor>& outputs);

// evaluate, but errors are thrown as the back end threw them.
std::vector<Array> evaluate_without_blame(const std::vector<Tensor>& outputs,
                                          const Options& options);

}  // namespace composit::execute
