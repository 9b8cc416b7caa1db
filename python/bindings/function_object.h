// Functions that Python calls through C++ first: objects that look like functions of Python's, and
// are called by vector calls.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

namespace composit::python {

// What a kind of them keeps beside its fields.
struct FunctionState {
    virtual ~FunctionState() = default;
};

// Called as an object's attribute it gets that object first, as functions of Python's do.
struct FunctionObject {
    PyObject ob_base;
    vectorcallfunc call;
    PyObject *dictionary, *weak;
    // What the calls are for, and who answers those that C++ does not.
    PyObject *function, *otherwise;
    FunctionState* state;
    char is_reflected;
};

inline FunctionObject* as_function(PyObject* self) {
    return reinterpret_cast<FunctionObject*>(self);
}

// A class of them, whose `make` takes Python's arguments. Objects are pickled by their names.
nanobind::object make_function_type(const char* name, newfunc make);

// An object of `type` with nothing in it but `call` and these two; null, and Python's error, where
// there is no memory.
PyObject* new_function_object(PyTypeObject* type, vectorcallfunc call, PyObject* function,
                              PyObject* otherwise);

}  // namespace composit::python
