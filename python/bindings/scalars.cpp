// Classes LazyScalar, LazyInteger, LazyFloating and LazyComplexFloating: what NumPy's scalars do
// that arrays do not. And the conversions to Python's numbers of both.
#include "arguments.h"
#include "bindings.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/eager/history.h"
#include "composit/numpy/indexing.h"
#include "content.h"
#include "indexing.h"
#include "interpreter_lock.h"
#include "location.h"
#include "numbers.h"

#include <array>
#include <string>

namespace composit::python {
namespace {

using ir::DType;

enum Kind : uint8_t { boolean, integer, floating, complex_floating };
std::array<PyTypeObject*, 4> types{};  // by kind; they live as long as the interpreter

Kind kind_of(DType dtype) {
    if (dtype == DType::boolean) return boolean;
    if (ir::is_integer(dtype)) return integer;
    return ir::is_complex(dtype) ? complex_floating : floating;
}

// NumPy's name of the class of scalars of a dtype: "numpy.float64".
std::string numpys_name(const LazyTensor& self) {
    const DType dtype = self.type().dtype;
    return "numpy." +
           (dtype == DType::boolean ? std::string("bool") : std::string(ir::name(dtype)));
}

bool is_open(const LazyTensor& self) {
    return !self.known_number() && self.tensor().node().is_open();
}

ir::Array value_of(const LazyTensor& self) {
    eager::shorten_history();
    const Tensor tensor = self.tensor();
    if (const ir::ConstantArray kept = tensor.node().kept(tensor.output_index()))
        return kept.value();
    const Released released;
    return eager::look({tensor})[0];
}

// A Python number; null for dtypes that NumPy is to convert.
PyObject* number_of(const ir::Array& value) {
    switch (value.dtype()) {
        case DType::boolean: return PyBool_FromLong(*value.data_as<bool>());
        case DType::int64: return PyLong_FromLongLong(*value.data_as<int64_t>());
        case DType::int32: return PyLong_FromLong(*value.data_as<int32_t>());
        case DType::uint8: return PyLong_FromLong(*value.data_as<uint8_t>());
        case DType::float64: return PyFloat_FromDouble(*value.data_as<double>());
        case DType::float32:
            return PyFloat_FromDouble(static_cast<double>(*value.data_as<float>()));
        default: return nullptr;
    }
}

nb::object number_of(const LazyTensor& self) {
    if (const Deferred* const number = self.known_number())
        return nb::steal(python_number(*number));
    const ir::Array value = value_of(self);
    if (PyObject* number = number_of(value)) return nb::steal(number);
    return ndarray_from(value).attr("item")();
}

Py_hash_t hash_of(PyObject* object) {
    try {
        const auto& self = content_of<LazyScalar>(object);
        const DType dtype = self.type().dtype;
        const bool is_exact = dtype == DType::boolean || ir::is_integer(dtype);
        if (!(is_exact || self.is_element) || is_open(self))
            return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(&self) >> 4);
        return PyObject_Hash(number_of(self).ptr());
    } catch (...) {
        set_python_error();
        return -1;
    }
}

// A quick answer where there is one element; else what the method says, which refuses or warns as
// NumPy's does.
template <unaryfunc* by_method, bool is_wanted(PyObject*)>
PyObject* converted(PyObject* object) {
    try {
        const auto& self = content_of<LazyTensor>(object);
        if (self.type().shape.empty() && !is_open(self)) {
            const Entered entered;
            nb::object number = number_of(self);
            if (is_wanted(number.ptr())) return number.release().ptr();
        }
    } catch (...) {
        set_python_error();
        return nullptr;
    }
    return (*by_method)(object);
}

bool is_float(PyObject* number) { return PyFloat_CheckExact(number); }
bool is_integer(PyObject* number) { return PyLong_CheckExact(number); }

unaryfunc float_by_method = nullptr, int_by_method = nullptr, index_by_method = nullptr;
inquiry truth_by_method = nullptr;

int truth_of_scalar(PyObject* object) {
    try {
        const auto& self = content_of<LazyTensor>(object);
        if (self.type().shape.empty() && !is_open(self)) {
            const Entered entered;
            return PyObject_IsTrue(number_of(self).ptr());
        }
    } catch (...) {
        set_python_error();
        return -1;
    }
    return truth_by_method(object);
}

// For a class whose methods of these names are Python's: its slots answer what they can.
void convert_quickly(nb::handle type) {
    PyNumberMethods& slots = *reinterpret_cast<PyTypeObject*>(type.ptr())->tp_as_number;
    if (!truth_by_method) {
        truth_by_method = slots.nb_bool;
        float_by_method = slots.nb_float;
        int_by_method = slots.nb_int;
        index_by_method = slots.nb_index;
    }
    slots.nb_bool = truth_of_scalar;
    slots.nb_float = converted<&float_by_method, is_float>;
    slots.nb_int = converted<&int_by_method, is_integer>;
    slots.nb_index = converted<&index_by_method, is_integer>;
}

// PySequence_GetItem, by which extensions in C take the elements of a sequence: they know no
// LazyScalar, so that numbers come as NumPy's scalars, which is what an ndarray gives them. Rows
// are tensors. `x[i]` of Python is another slot.
PyObject* sequence_item(PyObject* self, Py_ssize_t place) {
    try {
        const nb::handle x(self);
        const nb::object item = x[nb::int_(place)];
        if (!is_scalar(item)) return nb::object(item).release().ptr();
        // Once for all elements.
        if (!nb::cast<bool>(x.attr("node").attr("is_constant"))) x.attr("taken_out")();
        return nb::object(item.attr("taken_out")()[nb::tuple()]).release().ptr();
    } catch (nb::python_error& error) {
        error.restore();
        return nullptr;
    }
}

// For classes whose methods are all there: scalars are no sequences, although their class derives
// from that of arrays.
void be_sequences() {
    reinterpret_cast<PyTypeObject*>(tensor_type().ptr())->tp_as_sequence->sq_item = sequence_item;
    for (const PyTypeObject* scalar : types) scalar->tp_as_sequence->sq_item = nullptr;
}

// Without asking those methods.
void forget_in_place(nb::handle type) {
    PyNumberMethods& slots = *reinterpret_cast<PyTypeObject*>(type.ptr())->tp_as_number;
    slots.nb_inplace_add = slots.nb_inplace_subtract = slots.nb_inplace_multiply = nullptr;
    slots.nb_inplace_true_divide = slots.nb_inplace_floor_divide = nullptr;
    slots.nb_inplace_remainder = slots.nb_inplace_matrix_multiply = nullptr;
    slots.nb_inplace_and = slots.nb_inplace_or = slots.nb_inplace_xor = nullptr;
    slots.nb_inplace_lshift = slots.nb_inplace_rshift = nullptr;
    slots.nb_inplace_power = nullptr;
}

template <class T, class Base>
nb::class_<T, Base> scalar_class(nb::module_& module, const char* name, const char* doc) {
    nb::class_<T, Base> type(module, name, nb::is_weak_referenceable(), doc);
    reinterpret_cast<PyTypeObject*>(type.ptr())->tp_hash = hash_of;
    return type;
}

[[noreturn]] void fail_as_scalar(const LazyTensor& self, const char* what) {
    fail<TypeError>("'", numpys_name(self), "' object ", what);
}

nb::object item_of(const LazyTensor& self, nb::handle key) {
    const numpy::Index index = index_from(key);
    for (const numpy::IndexEntry& entry : index)
        user_check<IndexError>(!std::holds_alternative<int64_t>(entry),
                               "invalid index to scalar variable.");
    const Tensor found = numpy::get_item(self.tensor(), index);
    const bool is_whole = PyTuple_Check(key.ptr()) && PyTuple_GET_SIZE(key.ptr()) == 0;
    return is_whole ? wrap(found) : wrap_array(found);
}

}  // namespace

nb::handle scalar_type(DType dtype) { return {reinterpret_cast<PyObject*>(types[kind_of(dtype)])}; }

bool is_scalar(nb::handle value) {
    const PyTypeObject* const type = Py_TYPE(value.ptr());
    for (const PyTypeObject* const known : types)
        if (type == known) return true;
    return false;
}

void bind_scalars(nb::module_& module) {
    auto type = scalar_class<LazyScalar, LazyTensor>(
        module, "LazyScalar",
        "A number that is not computed yet. Nobody writes into it: `x += 1` makes another.");
    const auto integers = scalar_class<LazyInteger, LazyScalar>(
        module, "LazyInteger", "A LazyScalar of an integer dtype.");
    const auto floats = scalar_class<LazyFloating, LazyScalar>(
        module, "LazyFloating", "A LazyScalar of a real float dtype.");
    const auto complexes = scalar_class<LazyComplexFloating, LazyScalar>(
        module, "LazyComplexFloating", "A LazyScalar of a complex dtype.");
    const std::array<nb::handle, 4> all = {type, integers, floats, complexes};
    for (size_t i = 0; i < all.size(); ++i)
        types[i] = reinterpret_cast<PyTypeObject*>(all[i].ptr());
    type.def("__getitem__", item_of, nb::arg("key").none(), nb::call_guard<Located>());
    type.def("__setitem__", [](const LazyTensor& self, nb::handle, nb::handle) {
        fail_as_scalar(self, "does not support item assignment");
    });
    type.def("__len__", [](const LazyTensor& self) -> int64_t {
        fail<TypeError>("object of type '", numpys_name(self), "' has no len()");
    });
    type.def("__iter__",
             [](const LazyTensor& self) -> nb::object { fail_as_scalar(self, "is not iterable"); });
    // Python then makes the result of the operator without `i` and binds the name to that.
    for (const char* name : {"__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__",
                             "__imod__", "__ipow__", "__iand__", "__ior__", "__ixor__",
                             "__ilshift__", "__irshift__", "__imatmul__"})
        type.def(name, [](nb::handle, nb::handle) { return nb::borrow(Py_NotImplemented); });
    for (const nb::handle scalar : all) forget_in_place(scalar);
    type.def(
        "number", [](const LazyScalar& self) { return number_of(self); },
        "The value as a Python number.");
    module.def(
        "convert_quickly",
        [] {
            convert_quickly(tensor_type());
            for (PyTypeObject* scalar : types)
                convert_quickly(nb::handle(reinterpret_cast<PyObject*>(scalar)));
            be_sequences();
        },
        "Called when LazyTensor has its methods.");
    module.def(
        "array_of",
        [](nb::handle x) {
            return is_scalar(x) ? wrap_copy(content_of<LazyTensor>(x).tensor()) : nb::borrow(x);
        },
        "A new array of no dimension with a scalar's value; others are themselves.");
}

}  // namespace composit::python
