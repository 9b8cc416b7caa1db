// Operations on single numbers that are known: computed at once, without nodes.
#pragma once

#include "cell.h"
#include "composit/eager/small_arrays.h"
#include "composit/ir/scalar/row.h"

#include <Python.h>
#include <optional>

namespace composit::python {

// Python's float, int or bool.
bool is_literal(PyObject* value);

// The object, where it is exactly of a class of scalars' and has a number already; else null, also
// for what known_number_from takes. Cheap.
const LazyTensor* known_scalar(PyObject* value);

// A scalar or an array of no dimension whose value is known, a scalar of NumPy's, or Python's
// float, int or bool; null for all else.
Ref<Deferred> known_number_from(PyObject* value);

// row(a, b), or row(a) where `b` is null, for such operands, of which one is composit's: a new
// reference. Null without an error where it has to be made as a node. The caller is Located.
PyObject* applied_to_numbers(const ir::scalar::RowRef& row, PyObject* a, PyObject* b);

// The values of that, where one operand at least is such an array.
std::optional<eager::SmallArray> small_array_of(const ir::scalar::RowRef& row, PyObject* a,
                                                PyObject* b);
// The same for operands of which one at least is a small array of composit's whose values are
// known.
PyObject* applied_to_small_arrays(const ir::scalar::RowRef& row, PyObject* a, PyObject* b);

// An array of the known numbers in a list or tuple, of which one is composit's; null without an
// error for all else.
PyObject* stacked_numbers(PyObject* items);

// Python's bool, int or float of a deferred number: a new reference.
PyObject* python_number(const Deferred& number);

}  // namespace composit::python
