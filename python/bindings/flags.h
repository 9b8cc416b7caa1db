// Flags as NumPy reads them: any value with an integer, such as 1 and 0, or of any truth.
#pragma once

#include "arguments.h"
#include "casters.h"

#include <nanobind/nanobind.h>

namespace composit::python {

struct Flag {
    bool value = false;
    operator bool() const { return value; }
};

// An integer is required, as by most of NumPy's reductions; numpy.bool counts as one.
struct IntegerFlag : Flag {};
// Whatever Python calls true, as by numpy.argmax.
struct TruthFlag : Flag {};

inline bool truth_of(nanobind::handle value) {
    const int truth = PyObject_IsTrue(value.ptr());
    if (truth >= 0) return truth != 0;
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) throw nanobind::python_error();
    PyErr_Clear();
    refuse_argument<ValueError>(value, "True or False");
}

}  // namespace composit::python

namespace nanobind::detail {

template <>
struct type_caster<composit::python::IntegerFlag>
    : DeferredCaster<composit::python::IntegerFlag, type_caster<composit::python::IntegerFlag>> {
    static constexpr auto Name = const_name("bool");
    static composit::python::IntegerFlag convert(handle source) {
        using namespace composit::python;
        if (PyBool_Check(source.ptr())) return {{source.ptr() == Py_True}};
        if (isinstance(source, numpy_attribute("bool_"))) return {{truth_of(source)}};
        const object index = steal(PyNumber_Index(source.ptr()));
        if (index.is_valid()) return {{truth_of(index)}};
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw python_error();
        PyErr_Clear();
        refuse_argument(source, "True or False");
    }
};

template <>
struct type_caster<composit::python::TruthFlag>
    : DeferredCaster<composit::python::TruthFlag, type_caster<composit::python::TruthFlag>> {
    static constexpr auto Name = const_name("bool");
    static composit::python::TruthFlag convert(handle source) {
        return {{composit::python::truth_of(source)}};
    }
};

template <>
struct has_arg_defaults<composit::python::IntegerFlag> : std::true_type {};
template <>
struct has_arg_defaults<composit::python::TruthFlag> : std::true_type {};

}  // namespace nanobind::detail
