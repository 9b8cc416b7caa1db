// Rows of the scalar table as objects of Python's.
#pragma once

#include <Python.h>
#include <string_view>

namespace composit::python {

// The table's row of a ufunc, which lives as long as the process; null of any other object, of a
// user's row, which another one may take the place of, and of rows that ask for their operands'
// values (power refuses integers to negative powers).
const void* table_row_of(PyObject* object);
// Whether it is that of a name.
bool is_table_row(PyObject* object, std::string_view name);

}  // namespace composit::python
