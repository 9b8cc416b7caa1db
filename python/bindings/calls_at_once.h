// What is computed when Python asks for it, where that takes less time than nodes and a plan.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

// self[key], where both are known arrays and the key is one of integers; not valid where nodes are
// to be made.
nanobind::object item_at_once(nanobind::handle self, nanobind::handle key);

// self[mask], where both are known arrays and the mask is one of bools; not valid where nodes are
// to be made.
nanobind::object chosen_at_once(nanobind::handle self, nanobind::handle mask);

// a @ b, where both are known arrays; not valid where nodes are to be made.
nanobind::object product_at_once(nanobind::handle a, nanobind::handle b);

// self[key] = value, where arrays among them are known and self has few elements. False: nothing
// was done, and it is to be done with nodes.
bool assigned_at_once(nanobind::handle self, nanobind::handle key, nanobind::handle value);

}  // namespace composit::python
