// Gradients of composit.torch's functions, checked against differences of values.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_gradient_checks(nanobind::module_& module);

}  // namespace composit::python
