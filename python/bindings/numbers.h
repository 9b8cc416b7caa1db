// Operations on single numbers that are known: computed at once, without nodes.
#pragma once

#include "cell.h"
#include "composit/ir/scalar/row.h"

#include <Python.h>

namespace composit::python {

// A scalar or an array of no dimension whose value is known, or Python's float, int or bool; null
// for all else.
Ref<Deferred> known_number_from(PyObject* value);

// row(a, b), or row(a) where `b` is null, for such operands, of which one is composit's: a new
// reference. Null without an error where it has to be made as a node. The caller is Located.
PyObject* applied_to_numbers(const ir::scalar::RowRef& row, PyObject* a, PyObject* b);

// Python's bool, int or float of a deferred number: a new reference.
PyObject* python_number(const Deferred& number);

}  // namespace composit::python
