// Python's values as operands and numbers.
#include "values.h"

#include "anywhere.h"
#include "arguments.h"
#include "cell.h"
#include "composit/base/error.h"
#include "content.h"
#include "location.h"
#include "provided.h"

#include <limits>

namespace composit::python {

namespace {
thread_local bool arrays_lie_anywhere = false;
}

ArraysLieAnywhere::ArraysLieAnywhere() : before_(std::exchange(arrays_lie_anywhere, true)) {}
ArraysLieAnywhere::~ArraysLieAnywhere() { arrays_lie_anywhere = before_; }

ir::Tensor constant_of(ir::Array array, std::string_view name) {
    return arrays_lie_anywhere ? ir::constant(std::move(array), name)
                               : ir::placed_constant(std::move(array), name);
}

bool is_operand(nb::handle value) {
    PyObject* object = value.ptr();
    if (is_tensor(value) || PyFloat_Check(object) || PyLong_Check(object) ||
        PyComplex_Check(object) || PyList_Check(object) || PyTuple_Check(object))
        return true;
    if (PyUnicode_Check(object) || PyBytes_Check(object) || value.is_none()) return false;
    if (has_attribute(value, "__array_ufunc__"))
        return !nb::object(value.attr("__array_ufunc__")).is_none();
    return has_attribute(value, "__array__") || PyObject_CheckBuffer(object);
}

bool overrides_ufuncs(nb::handle value) {
    const nb::handle type = value.type();
    const nb::handle ndarray = numpy_attribute("ndarray");
    if (is_tensor(value) || type.is(ndarray) || !has_attribute(type, "__array_ufunc__"))
        return false;
    const nb::object own = type.attr("__array_ufunc__");
    return !own.is_none() && !own.is(ndarray.attr("__array_ufunc__"));
}

bool has_attribute(nb::handle value, const char* name) {
    PyObject* found = nullptr;
#if PY_VERSION_HEX >= 0x030d0000
    const int has = PyObject_GetOptionalAttrString(value.ptr(), name, &found);
#else
    const nb::object text = nb::steal(PyUnicode_InternFromString(name));
    const int has = _PyObject_LookupAttr(value.ptr(), text.ptr(), &found);
#endif
    if (has < 0) throw nb::python_error();
    Py_XDECREF(found);
    return has > 0;
}

ir::Tensor tensor_from(nb::handle value) {
    PyObject* object = value.ptr();
    if (is_tensor(value)) return content_of<LazyTensor>(value).tensor();
    const Located located;
    if (PyBool_Check(object)) return ir::weak_scalar(object == Py_True);
    if (PyFloat_CheckExact(object)) return ir::weak_scalar(PyFloat_AS_DOUBLE(object));
    if (PyLong_CheckExact(object)) {
        int overflow = 0;
        const long long integer = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (!overflow) return ir::weak_scalar(static_cast<int64_t>(integer));
    }
    if (PyComplex_CheckExact(object))
        return ir::weak_scalar(
            std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)));
    if (has_attribute(value, "lazy_tensor")) return tensor_from(value.attr("lazy_tensor"));
    if (nb::isinstance(value, numpy_attribute("ndarray"))) {
        if (has_class_of_its_own(value) && nb::hasattr(value, "_mask") &&
            nb::object(value.attr("mask").attr("any")()).equal(nb::bool_(true)))
            refuse_argument(value, "An array without a mask (numpy.ma has functions of those)");
        return constant_of(array_from(value));
    }
    const bool is_foreign = !PyList_Check(object) && !PyTuple_Check(object);
    if (is_foreign && has_attribute(value, "__array__") && !has_attribute(value, "dtype")) {
        const nb::object array = value.attr("__array__")();
        if (is_tensor(array)) return content_of<LazyTensor>(array).tensor();
        return constant_of(array_from(array));
    }
    if (PyList_Check(object) || PyTuple_Check(object))
        for (nb::handle item : value)
            if (is_tensor(item)) return tensor_from(provided("stack")(value));
    return ir::constant(array_from(value));
}

ir::Tensor comparand(nb::handle object, const ir::Tensor& other) {
    PyObject* value = object.ptr();
    int overflow = 0;
    if (PyLong_CheckExact(value)) PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow == 0) return tensor_from(value);
    if (ir::is_inexact(other.dtype())) {
        const double nearest = PyLong_AsDouble(value);
        if (nearest == -1.0 && PyErr_Occurred()) throw nb::python_error();
        return ir::weak_scalar(nearest);
    }
    PyLong_AsUnsignedLongLong(value);
    if (!PyErr_Occurred()) return tensor_from(value);
    PyErr_Clear();
    return ir::weak_scalar(overflow * std::numeric_limits<double>::infinity());
}

int64_t integer_from(nb::handle value) {
    if (!PyIndex_Check(value.ptr())) refuse_argument(value, "An integer");
    const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid()) {
        // An array of several numbers says so without a line; others' errors are their own.
        nb::python_error error;
        if (!error.matches(PyExc_TypeError) || !has_attribute(value, "ndim")) throw error;
        refuse_argument(value, "An integer");
    }
    int overflow = 0;
    const long long integer = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    if (overflow) refuse_argument<OverflowError>(value, "An integer of 64 bits");
    if (integer == -1 && PyErr_Occurred()) throw nb::python_error();
    return integer;
}

// Tensors and arrays of no dimension look like sequences.
static bool is_one_integer(nb::handle value) {
    if (PyLong_Check(value.ptr()) || !PySequence_Check(value.ptr())) return true;
    if (!PyIndex_Check(value.ptr()) || !has_attribute(value, "ndim")) return false;
    return nb::cast<int>(value.attr("ndim")) == 0;
}

std::vector<int64_t> integers_from(nb::handle value) {
    if (is_one_integer(value)) return {integer_from(value)};
    const char* const required = "An integer or a sequence of integers";
    if (PyUnicode_Check(value.ptr())) refuse_argument(value, required);
    std::vector<int64_t> integers;
    for (nb::handle item : value) {
        const bool is_integer = PyIndex_Check(item.ptr()) && !PyBool_Check(item.ptr());
        if (!is_integer) refuse_argument(value, required);
        integers.push_back(integer_from(item));
    }
    return integers;
}

double number_from(nb::handle value) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number != -1 || !PyErr_Occurred()) return number;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
    PyErr_Clear();
    refuse_argument(value, "A number");
}

std::vector<ir::Tensor> tensors_from(nb::handle value) {
    const nb::object items = nb::steal(PyObject_GetIter(value.ptr()));
    if (!items.is_valid()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
        PyErr_Clear();
        refuse_argument(value, "A sequence of tensors");
    }
    std::vector<ir::Tensor> tensors;
    for (nb::handle item : items) tensors.push_back(tensor_from(item));
    return tensors;
}

nb::tuple tuple_from(const std::vector<int64_t>& values) {
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
    if (!tuple) throw nb::python_error();
    for (size_t i = 0; i < values.size(); ++i)
        PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
    return nb::steal<nb::tuple>(tuple);
}

}  // namespace composit::python
