// Modules of composit.torch: their attributes, what is in them, their calls, states and hooks.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <utility>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

// One of a module's dictionaries: "_parameters", "_buffers", "_modules", those of hooks.
nb::dict group_in(nb::handle module, const char* name);
// A dictionary's values with their keys, which stay while Python's code changes it.
std::vector<std::pair<nb::object, nb::object>> items_now(nb::handle dictionary);

void bind_module_attributes(nb::module_& module);        // module_attributes.cpp
void bind_module_calls(nb::module_& module);             // module_calls.cpp
void bind_module_states(nb::module_& module);            // module_states.cpp
void bind_module_parametrizations(nb::module_& module);  // module_parametrizations.cpp
void bind_module_norms(nb::module_& module);             // module_norms.cpp
void bind_module_options(nb::module_& module);           // module_options.cpp
void bind_module_pruning(nb::module_& module);           // module_pruning.cpp

}  // namespace composit::python
