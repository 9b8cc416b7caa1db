// Functions of Python that the bindings call. The package's modules provide them when they are
// imported (composit._core.provide), so that the bindings import none of these modules.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

// The function of that name. RuntimeError in Python where no module has provided it.
nanobind::object provided(const char* name);

void bind_provided(nanobind::module_& module);

}  // namespace composit::python
