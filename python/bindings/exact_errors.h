// Python's exceptions in the words of another library to the last character, without the user's
// line, which tracebacks show.
#pragma once

#include "composit/base/text.h"

#include <nanobind/nanobind.h>

namespace composit::python {

// exact_check(PyExc_TypeError, condition, parts of the message...)
template <class... Parts>
void exact_check(PyObject* kind, bool condition, const Parts&... parts) {
    if (condition) [[likely]]
        return;
    PyErr_SetString(kind, composit::text(parts...).c_str());
    throw nanobind::python_error();
}

}  // namespace composit::python
