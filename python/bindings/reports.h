// Binding function of composit/reports/*.h.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_model_reports(nanobind::module_& module);

}  // namespace composit::python
