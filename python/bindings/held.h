// Python objects that the core keeps: functions of registered rows, back ends written in Python.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace composit::python {

// May be dropped by any thread: freed under the interpreter's lock. When the interpreter exits all
// objects held this way are let go, since the registries of the core outlive it.
std::shared_ptr<nanobind::object> held(nanobind::object object);

void bind_held(nanobind::module_& module);  // arranges for the letting go

}  // namespace composit::python
