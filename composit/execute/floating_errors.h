// After an evaluation in which the processor's flags were raised: which nodes of the graph are to
// be reported, and for what.
#pragma once

#include "composit/execute/execute.h"
#include "composit/runtime/floating_flags.h"

#include <vector>

namespace composit::execute {

// Whether flags may mean an error of a kind in `reported` (bits of ir::ErrorHandling::Kind).
// Kernels raise flags where nothing is wrong (both branches of a choice are computed), but none
// stay down where something is.
bool may_be_reported(runtime::FloatingFlags flags, uint8_t reported);

// Evaluates the graph again, with its operations' conditions for errors, decided by values; then
// has each operation and line reported once, in topological order, as its ErrorHandling wants it.
void report_floating_errors(const std::vector<Tensor>& outputs, const Options& options);

}  // namespace composit::execute
