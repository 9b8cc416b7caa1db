// The functions of composit/jax.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_jax(nanobind::module_& module);

}  // namespace composit::python
