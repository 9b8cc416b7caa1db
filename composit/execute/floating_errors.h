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

// Evaluates the graph again but for its outputs, whose values are known, with its operations'
// conditions for errors of the kinds that may have raised the flags, decided by values; then has
// each operation and line reported once, in topological order, as its ErrorHandling wants it.
void report_floating_errors(const std::vector<Tensor>& outputs, const std::vector<Array>& values,
                            runtime::FloatingFlags flags, const Options& options);

}  // namespace composit::execute
