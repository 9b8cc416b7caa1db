// Binding function of composit/onnx/*.h.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_onnx(nanobind::module_& module);

}  // namespace composit::python
