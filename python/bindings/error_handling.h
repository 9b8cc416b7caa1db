// NumPy's errstate as nodes carry it: read where they are made, obeyed where they are evaluated.
#pragma once

#include "composit/ir/node.h"

#include <nanobind/nanobind.h>

namespace composit::python {

// That of the current context (np.errstate, np.seterr), and of whether Python's filters make
// warnings errors; the same record for the same settings.
// Null before follow_errstate. Costs some nanoseconds while the settings stay.
const ir::ErrorHandling* current_error_handling();

// follow_errstate(variable, settings, report): NumPy's context variable; a function that returns
// the current settings as a dictionary; and report(settings, operation, kinds, path, line).
void bind_error_handling(nanobind::module_& module);

}  // namespace composit::python
