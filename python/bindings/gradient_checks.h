// What composit.torch does for tests and training beside tensors: gradients checked against
// differences of values, samples as batches.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

void bind_gradient_checks(nanobind::module_& module);
void bind_sample_batches(nanobind::module_& module);      // sample_batches.cpp
void bind_drawn_test_tensors(nanobind::module_& module);  // drawn_test_tensors.cpp
void bind_device_pieces(nanobind::module_& module);       // device_pieces.cpp

}  // namespace composit::python
