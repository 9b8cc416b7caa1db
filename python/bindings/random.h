// Binding composit/random/*.h, into module composit._core.random.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_random(nanobind::module_& module);

}  // namespace composit::python
