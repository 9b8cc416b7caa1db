// Python's side of scalar functions: operators on Expr, calls of rows, registration.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_scalar_values(nanobind::module_& module);

}  // namespace composit::python
