// The functions of composit/mlir.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_mlir(nanobind::module_& module);

}  // namespace composit::python
