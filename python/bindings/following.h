// Operations of composit.torch that were met before, recognised without building a key: the quick
// way through the states of python/composit/torch/steps.py.
#pragma once

#include "composit/ir/node.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

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

// Tensors without nodes, from place `first` on, for the results of the operation that led to a
// state; of a view its source, else None.
nanobind::object results_of_state(nanobind::handle trace, nanobind::handle state, int64_t first,
                                  nanobind::handle source);
// Whether this thread's operations are recorded.
bool is_recorded_here();
// The state after an optimiser's step that is known at this point of the trace, which its operands
// are entered into; None where it is not. `optimizer` is the class.
nanobind::object match_step(nanobind::handle optimizer, const nanobind::tuple& arguments);
// What a call of a function, or a step of an optimiser's class, is recognised by: `checks` of its
// arguments, under the default dtype, at the line of that number. `state` is the one after it.
nanobind::object pattern_of(nanobind::handle function, bool is_recording, nanobind::handle defaults,
                            nanobind::handle line, const nanobind::tuple& checks,
                            const nanobind::dict& named, nanobind::handle state);
// The results of a known backward() as gradients of the leaves at `leaves`; the records at `freed`
// are freed.
void make_gradients(nanobind::handle trace, nanobind::handle state,
                    const std::vector<int64_t>& leaves, const nanobind::list& freed);
// Writes an optimiser's results, `values` from `first` on, to the tensors at `targets`, of which
// the leaves at `numbers` are. The trace keeps what was there before.
void write_step(nanobind::handle trace, const std::vector<nanobind::object>& values, size_t first,
                const std::vector<int64_t>& targets, const std::vector<int64_t>& numbers);

}  // namespace composit::python
