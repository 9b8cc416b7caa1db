// Operations of composit.torch that were met before, recognised without building a key: the quick
// way through the states of python/composit/torch/steps.py.
#pragma once

#include "composit/ir/node.h"

#include <nanobind/nanobind.h>

namespace composit::python {

// A dtype and shape, and where the values lie.
struct LeafType {
    ir::TensorType type;
    ir::DeviceNumber device;
};

// A number for each, equal for equal ones for the life of the process.
int64_t number_of_type(const ir::TensorType& type, ir::DeviceNumber device);
const LeafType& type_of_number(int64_t number);

// The result of an operation, given its arguments as in a vector call, where it is known at this
// point of the trace; else nothing, and nothing has changed.
nanobind::object follow(nanobind::handle function, PyObject* const* values, size_t count,
                        PyObject* names);

}  // namespace composit::python
