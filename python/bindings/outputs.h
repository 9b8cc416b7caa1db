// What functions do with the arguments out= and where= of NumPy's.
#pragma once

#include "composit/ir/node.h"
#include "composit/numpy/outputs.h"

#include <nanobind/nanobind.h>

#include <string>

namespace composit::python {

// out= itself, or the only entry of the tuple that ufuncs take.
nanobind::object the_output(nanobind::handle out);
// The result, or `out` with the result written over it.
nanobind::object write_out(const std::string& function, nanobind::object result,
                           nanobind::handle out, const numpy::OutputRules& rules);

// The outputs behind the inputs among a ufunc's operands, which out= excludes.
nanobind::list positional_outputs(const std::string& name, const nanobind::tuple& operands,
                                  size_t inputs, size_t outputs, nanobind::handle out);
// Refuses what is no order and no bool: both say nothing about tensors.
void check_layout(nanobind::handle order, nanobind::handle subok);
// Operands of a product in the dtype that is asked for, as far as the rule allows it.
nanobind::object operands_in(const std::string& function, nanobind::object operands,
                             nanobind::handle dtype, nanobind::handle casting);

// TypeError unless what is in `out` could be read in the result's dtype.
void check_buffer(const ir::Tensor& result, nanobind::handle out);
// The number that a text says, as NumPy writes it into arrays of the dtype; all else as it is.
nanobind::object number_read(const std::string& function, nanobind::handle value, ir::DType dtype);

}  // namespace composit::python
