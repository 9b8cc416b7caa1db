// Optimisers of composit.torch: groups of parameters, what is kept of each, steps.
#pragma once

#include "composit/aten/optimizers.h"

#include <nanobind/nanobind.h>

#include <string>

namespace composit::python {

namespace nb = nanobind;

// A name as the one object of Python's that dictionaries find quickly.
PyObject* interned_name(const std::string& name);
// What a dictionary has under a name, past what its class does when it is read; null for nothing.
PyObject* held_item(nb::handle dictionary, const char* name);
// Puts a value there, likewise.
void put_item(nb::handle dictionary, nb::handle name, nb::handle value);

// The rule that an optimiser makes of a group's options.
const aten::Rule& rule_of(nb::handle optimizer, nb::handle group, nb::object& held);
// A learning rate: a number, or a tensor of composit.torch's or composit's.
aten::Number rate_of(nb::handle group);

// A tensor of composit.torch's in memory of its own.
nb::object tensor_of(const ir::Tensor& value);
// What an optimiser keeps of a parameter (ParameterState in composit/torch/optim); empty where
// nothing was kept yet. Numbers are what others wrote into their tensors, or put in their places.
nb::object parameter_state(nb::handle optimizer, nb::handle parameter);
// The state as it is kept; null where there is none.
PyObject* kept_state(nb::handle optimizer, nb::handle parameter);
// Whether somebody has a tensor of a state's number, or put something into any state.
bool are_states_touched();
// Writes a state's numbers into the tensors that others have.
void give_numbers(nb::handle state);
// Counts a step of a parameter.
void count_step(nb::handle state);
// A number as it is kept.
nb::object kept_number(double value);

void bind_group_rates(nb::module_& module);       // aten_schedulers.cpp
void bind_optimizer_steps(nb::module_& module);   // optimizer_steps.cpp
void bind_optimizer_states(nb::module_& module);  // optimizer_states.cpp

}  // namespace composit::python
