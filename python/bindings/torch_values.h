// Tensors of composit.torch as values of formulas (composit/aten/formulas.h): each operation is the
// function that composit.torch has under its name, and is recorded by it.
#pragma once

#include "composit/aten/formulas.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string_view>

namespace composit::python {

namespace nb = nanobind;

// A tensor, a number, or a tuple of lengths; tensors of graphs are LazyTensors.
nb::object object_of(const aten::formulas::Value& value);
aten::formulas::Value value_of(nb::object object);
// None is nothing, both ways.
std::optional<aten::formulas::Value> maybe_value_of(nb::handle object);
nb::object object_of(const std::optional<aten::formulas::Value>& value);

// A name that is a literal, as Python's: found by its address, the second time. Borrowed.
PyObject* name_of_literal(std::string_view name);

}  // namespace composit::python
