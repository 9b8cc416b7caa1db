// Keys of composit.torch's operations, and what they are recognised by (composit/torch/steps.py).
#pragma once

#include "torch_objects.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <string>
#include <utility>

namespace composit::python {

// Makes a tensor a leaf of the trace; false where it cannot be one.
bool enter_leaf(nb::handle trace, nb::handle tensor, nb::list& key);
// Adds an operand to the key, and as a place or itself to the operands; false where that is not
// possible.
bool encode(nb::handle trace, nb::handle value, nb::list& key, nb::list& operands);
// What the leaf at a place holds.
nb::object leaf_at(const TraceObject* trace, int64_t place);
// What following.cpp recognises a call by, where `known` tensors were in the trace before it.
std::pair<nb::tuple, nb::dict> checks_of(nb::handle trace, int64_t known, nb::handle args,
                                         nb::handle named);
// The tensor at a place, if it lives; else None.
nb::object result_at(nb::handle trace, int64_t place);
// The program that computes the results at places, a tuple, and what `more`, the state that is
// next, results in, of `numbers`, its inputs, too; None where there is none yet, or none can be.
nb::object program_of_trace(nb::handle trace, nb::handle wanted, nb::handle more,
                            nb::handle numbers);
// Gives views of results that have their values what they see.
void set_views(nb::handle trace);
// Gives tensors that have nodes the places from `first` on.
void register_results(nb::handle trace, int64_t first, const nb::list& parts);

// An operand with LazyTensors in the places' stead. A view shares its source's cell.
nb::object operand_of_trace(nb::handle trace, nb::handle value, nb::handle detached,
                            nb::handle lazies, bool is_view);
// Whether a result lies in memory of an operand, or is no whole.
bool shares_memory(nb::handle result, nb::handle operands);
// The function's result over Tensors, as the trace's next operation.
nb::object recorded(nb::object trace, nb::object function, const std::string& name, bool is_view,
                    nb::tuple args, nb::dict named);
// (the index, with integers and tensors in place of others; whether it consists of integers,
// slices, None and an ellipsis alone).
nb::tuple read_index(nb::handle index);

void bind_trace_keys(nb::module_& module);
void bind_trace_building(nb::module_& module);    // trace_building.cpp
void bind_guards(nb::module_& module);            // guards.cpp
void bind_torch_data(nb::module_& module);        // torch_data.cpp
void bind_torch_calls(nb::module_& module);       // torch_calls.cpp
void bind_torch_devices(nb::module_& module);     // torch_devices.cpp
void bind_torch_operations(nb::module_& module);  // torch_operations.cpp
void bind_tape_gradients(nb::module_& module);    // tape_gradients.cpp

}  // namespace composit::python
