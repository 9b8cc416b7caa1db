// NumPy's scalars (numpy.float64(2), an element of an ndarray) as known numbers.
#pragma once

#include "composit/eager/deferred.h"
#include "composit/ir/scalar/row.h"

#include <Python.h>

namespace composit::python {

// Whether it is a real number of NumPy's: a bool, an integer, a float32 or a float64.
bool is_numpy_number(PyObject* value);
// Of its own dtype; null for all else.
Ref<eager::Deferred> numpy_number_from(PyObject* value);

// The row of the scalar table that one of NumPy's ufuncs of two operands is; null for others.
const ir::scalar::RowRef* row_of_ufunc(PyObject* ufunc);

}  // namespace composit::python
