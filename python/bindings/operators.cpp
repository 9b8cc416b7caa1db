// Python's operators on LazyTensor: NumPy's functions of the same meaning, reflected and in place.
#include "arguments.h"
#include "bindings.h"
#include "calls_at_once.h"
#include "casters.h"
#include "composit/base/error.h"
#include "composit/eager/history.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/outputs.h"
#include "composit/numpy/power.h"
#include "composit/ops/ops.h"
#include "content.h"
#include "location.h"
#include "numbers.h"
#include "numpy_numbers.h"
#include "provided.h"

#include <array>
#include <iterator>
#include <utility>

namespace composit::python {
namespace {

struct Binary {
    const char* python;  // "add" of __add__, __radd__, __iadd__
    const char* row;
};
constexpr Binary arithmetic[] = {
    {"add", "add"},         {"sub", "subtract"},          {"mul", "multiply"},
    {"truediv", "divide"},  {"floordiv", "floor_divide"}, {"mod", "remainder"},
    {"pow", "power"},       {"and", "bitwise_and"},       {"or", "bitwise_or"},
    {"xor", "bitwise_xor"}, {"lshift", "left_shift"},     {"rshift", "right_shift"},
    {"matmul", "matmul"},
};
constexpr Binary comparisons[] = {
    {"__lt__", "less"},          {"__le__", "less_equal"}, {"__gt__", "greater"},
    {"__ge__", "greater_equal"}, {"__eq__", "equal"},      {"__ne__", "not_equal"},
};

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

// What the ufunc of this name makes of a and b, of which one decides it itself.
nb::object asked(const char* ufunc, nb::handle a, nb::handle b, const nb::kwargs& options = {}) {
    return provided("ufunc")(ufunc)(a, b, **options);
}

bool is_simple(PyObject* value) {
    return is_tensor(value) || PyFloat_CheckExact(value) || PyLong_CheckExact(value) ||
           PyBool_Check(value) || is_numpy_number(value);
}

// Whether the ufunc of that name is to ask the other operand. Products of matrices are functions.
bool is_asked(nb::handle other, std::string_view ufunc) {
    return !is_simple(other.ptr()) && ufunc != "matmul" && overrides_ufuncs(other);
}

// Whether this is an array of what tensors do not hold: of texts, objects, dates or records.
bool is_of_others(nb::handle value) { return !is_simple(value.ptr()) && holds_no_numbers(value); }

// What NumPy's operator makes of a and b, of which one is nothing that a tensor holds.
nb::object made_by_numpy(const char* ufunc, nb::handle a, nb::handle b) {
    return provided("operated")(ufunc, a, b);
}

Tensor applied(std::string_view row, const Tensor& a, const Tensor& b) {
    if (row == "matmul") return numpy::matmul(a, b);
    if (row == "power") return numpy::raised(a, b);
    return numpy::apply(row, {a, b});
}

void bind_binary(nb::class_<LazyTensor>& type, const Binary& operation) {
    const std::string name = operation.python;
    const char* row = operation.row;
    type.def(("__" + name + "__").c_str(),
             [row](nb::handle object, nb::handle other) {
                 if (is_asked(other, row)) return asked(row, object, other);
                 if (!is_operand(other)) return not_implemented();
                 const Tensor& self = self_of(object).tensor();
                 return wrap(applied(row, self, tensor_from(other)));
             },
             nb::call_guard<Located>());
    type.def(("__r" + name + "__").c_str(),
             [row](nb::handle object, nb::handle other) {
                 if (is_asked(other, row)) return asked(row, other, object);
                 if (!is_operand(other)) return not_implemented();
                 const Tensor& self = self_of(object).tensor();
                 return wrap(applied(row, tensor_from(other), self));
             },
             nb::call_guard<Located>());
    type.def(("__i" + name + "__").c_str(),
             [row](nb::handle object, nb::handle other) {
                 if (is_asked(other, row)) {
                     nb::kwargs options;
                     options["out"] = nb::make_tuple(object);
                     return asked(row, object, other, options);
                 }
                 if (!is_operand(other)) return not_implemented();
                 eager::shorten_history();
                 const auto& self = self_of(object);
                 self.check_writeable();
                 const Tensor before = self.tensor();
                 self.replace(numpy::written_as(row, applied(row, before, tensor_from(other)),
                                                before.shape(), before.dtype()));
                 return nb::borrow(object);
             },
             nb::call_guard<Located>());
}

void bind_unary(nb::class_<LazyTensor>& type, const char* python, const char* row) {
    type.def(
        python, [row](const LazyTensor& self) { return wrap(numpy::apply(row, {self.tensor()})); },
        nb::call_guard<Located>());
}

// ----- The quick way: Python asks a type's slots before its methods. What they do is what the
// methods of the same name do, which remain for who calls or overrides them.

template <class Make>
PyObject* made(PyObject* a, PyObject* b, const Make& make) noexcept {
    try {
        const Entered entered;
        const Located located;
        PyObject* const operands[] = {a, b};
        return wrap_elementwise(make(), operands, b ? 2 : 1).release().ptr();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

// Of a and b `other` may be no tensor.
template <class Make>
PyObject* made_if_operand(const char* ufunc, PyObject* a, PyObject* b, PyObject* other,
                          const Make& make) noexcept {
    try {
        if (is_asked(other, ufunc)) return asked(ufunc, a, b).release().ptr();
        if (is_of_others(other)) return made_by_numpy(ufunc, a, b).release().ptr();
        if (!is_operand(other)) return not_implemented().release().ptr();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
    return made(a, b, make);
}

// One of a and b at least is a tensor.
template <class Make>
PyObject* made_of(const char* ufunc, PyObject* a, PyObject* b, const Make& make) noexcept {
    return made_if_operand(ufunc, a, b, is_tensor(a) ? b : a,
                           [&] { return make(tensor_from(a), tensor_from(b)); });
}

enum class Kind : uint8_t { other, number, array };

// Whether it may be computed with at once: a number, or a small array.
Kind kind_of(PyObject* value) {
    if (is_literal(value) || known_scalar(value)) return Kind::number;
    if (!is_tensor(value)) return is_numpy_number(value) ? Kind::number : Kind::other;
    if (!nb::inst_ready(value)) return Kind::other;
    const ir::Shape& shape = nb::inst_ptr<LazyTensor>(value)->type().shape;
    if (shape.empty()) return Kind::number;
    return ir::element_count(shape) <= eager::most_small_elements ? Kind::array : Kind::other;
}

// By the row where the values of small operands are known; else null, mostly without an error.
PyObject* made_at_once(const ir::scalar::RowRef& row, PyObject* a, PyObject* b) noexcept {
    try {
        const Kind first = kind_of(a), second = b ? kind_of(b) : Kind::number;
        if (first == Kind::other || second == Kind::other) return nullptr;
        const Entered entered;
        const Located located;
        if (first == Kind::number && second == Kind::number) return applied_to_numbers(row, a, b);
        return applied_to_small_arrays(row, a, b);
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

template <size_t number>
PyObject* operated(PyObject* a, PyObject* b) {
    static const ir::scalar::RowRef& row = ir::scalar::table_row(arithmetic[number].row);
    PyObject* const found = made_at_once(row, a, b);
    if (found || PyErr_Occurred()) return found;
    return made_of(arithmetic[number].row, a, b,
                   [](const Tensor& x, const Tensor& y) { return numpy::apply_row(row, x, y); });
}

PyObject* multiplied(PyObject* a, PyObject* b) {
    if (is_tensor(a) && is_tensor(b)) try {
            const Entered entered;
            nb::object found = product_at_once(a, b);
            if (found.is_valid()) return found.release().ptr();
        } catch (...) {
            set_python_error();
            return nullptr;
        }
    return made_of("matmul", a, b,
                   [](const Tensor& x, const Tensor& y) { return numpy::matmul(x, y); });
}

ternaryfunc power_by_method = nullptr;
// The row of x ** y for one of Python's numbers y; null where there is none.
const ir::scalar::RowRef* row_of_power(PyObject* a, PyObject* b) {
    if (!is_tensor(a) || is_tensor(b) || kind_of(b) != Kind::number || is_numpy_number(b))
        return nullptr;
    const double exponent = PyFloat_AsDouble(b);
    if (exponent == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return nullptr;
    }
    const ir::DType base = content_of<LazyTensor>(a).type().dtype;
    const ir::DType exponents = PyFloat_CheckExact(b) ? ir::DType::float64
                                : PyBool_Check(b)     ? ir::DType::boolean
                                                      : ir::DType::int64;
    const std::string_view row = numpy::row_of_power(exponent, exponents, base);
    return row.empty() ? nullptr : &ir::scalar::table_row(row);
}

PyObject* raised(PyObject* a, PyObject* b, PyObject* modulus) {
    if (modulus != Py_None) return power_by_method(a, b, modulus);
    if (const ir::scalar::RowRef* const row = row_of_power(a, b)) {
        PyObject* const found = made_at_once(*row, a, nullptr);
        if (found || PyErr_Occurred()) return found;
    }
    return made_of("power", a, b,
                   [](const Tensor& x, const Tensor& y) { return numpy::raised(x, y); });
}

// Of anything at all NumPy says for each element whether it is equal.
bool is_no_number(PyObject* value) {
    if (is_simple(value)) return false;
    try {
        return !is_asked(value, "equal") && !is_operand(value) &&
               !has_attribute(value, "__array_ufunc__");
    } catch (...) {
        return false;  // it is asked again, and fails again
    }
}

PyObject* compared_by_numpy(const char* ufunc, PyObject* a, PyObject* b) noexcept {
    try {
        return made_by_numpy(ufunc, a, b).release().ptr();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

PyObject* compared(PyObject* a, PyObject* b, int operation) {
    static const auto rows = [] {
        std::array<const ir::scalar::RowRef*, std::size(comparisons)> found{};
        constexpr int in_order[] = {Py_LT, Py_LE, Py_GT, Py_GE, Py_EQ, Py_NE};
        for (size_t i = 0; i < found.size(); ++i)
            found[static_cast<size_t>(in_order[i])] = &ir::scalar::table_row(comparisons[i].row);
        return found;
    }();
    const ir::scalar::RowRef& row = *rows[static_cast<size_t>(operation)];
    PyObject* const found = made_at_once(row, a, b);
    if (found || PyErr_Occurred()) return found;
    const bool answers_all = (operation == Py_EQ || operation == Py_NE) && !is_scalar(a);
    if (answers_all && is_no_number(b)) return compared_by_numpy(row->name.c_str(), a, b);
    PyObject* const made = made_if_operand(row->name.c_str(), a, b, b, [&] {
        const Tensor& x = content_of<LazyTensor>(a).tensor();  // Python asks its own class alone
        return numpy::apply_row(row, x, comparand(b, x));
    });
    const bool is_of_texts = !made && answers_all && (PyList_Check(b) || PyTuple_Check(b)) &&
                             PyErr_ExceptionMatches(PyExc_TypeError);
    if (!is_of_texts) return made;
    PyErr_Clear();
    return compared_by_numpy(row->name.c_str(), a, b);
}

// Of an ndarray without dimensions its element, else the value itself.
nb::object scalar_of_array(nb::handle value) {
    static const nb::handle ndarray = numpy_attribute("ndarray");
    if (Py_TYPE(value.ptr()) != reinterpret_cast<PyTypeObject*>(ndarray.ptr()))
        return nb::borrow(value);
    static PyObject* const ndim = PyUnicode_InternFromString("ndim");
    const nb::object count = nb::steal(PyObject_GetAttr(value.ptr(), ndim));
    if (!count.is_valid()) return count;
    if (PyLong_AsLong(count.ptr()) != 0) return nb::borrow(value);
    return nb::steal(PyObject_GetItem(value.ptr(), nb::tuple().ptr()));
}

// __array_ufunc__(self, ufunc, method, *inputs): NumPy's scalars ask it (numpy.float64(2) * x), so
// operators of known numbers are answered here; `general`, in Python, answers all else.
PyObject* array_ufunc(PyObject* general, PyObject* const* given, Py_ssize_t count,
                      PyObject* names) {
    if (!names && count == 5 && PyUnicode_Check(given[2]) &&
        PyUnicode_CompareWithASCIIString(given[2], "__call__") == 0)
        if (const ir::scalar::RowRef* const row = row_of_ufunc(given[1])) {
            const nb::object first = scalar_of_array(given[3]);  // numpy.float64(2) < x makes one
            if (!first.is_valid()) return nullptr;
            PyObject* const found = made_at_once(*row, first.ptr(), given[4]);
            if (found || PyErr_Occurred()) return found;
        }
    return PyObject_Vectorcall(general, given, static_cast<size_t>(count), names);
}

PyMethodDef array_ufunc_method = {
    "__array_ufunc__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(array_ufunc)),
    METH_FASTCALL | METH_KEYWORDS,
    "Called by NumPy for a ufunc with a LazyTensor among its operands."};

constexpr const char* unary[] = {"negative", "absolute"};
template <size_t number>
PyObject* operated_alone(PyObject* a) {
    static const ir::scalar::RowRef& row = ir::scalar::table_row(unary[number]);
    PyObject* const found = made_at_once(row, a, nullptr);
    if (found || PyErr_Occurred()) return found;
    return made(a, nullptr, [&] { return numpy::apply_row(row, tensor_from(a)); });
}

// x += y and its like, over the known values of a small array.
template <size_t number>
struct InPlace {
    static inline binaryfunc by_method = nullptr;

    static bool is_written(PyObject* a, PyObject* b) {
        static const ir::scalar::RowRef& row = ir::scalar::table_row(arithmetic[number].row);
        if (kind_of(a) != Kind::array || kind_of(b) == Kind::other) return false;
        const auto& self = content_of<LazyTensor>(a);
        if (self.is_read_only || !self.cell()->is_plain()) return false;
        const Entered entered;
        const Located located;
        std::optional<eager::SmallArray> found = small_array_of(row, a, b);
        if (!found || found->values.shape() != self.type().shape ||
            found->values.dtype() != self.type().dtype)
            return false;
        self.cell()->replace_known(std::move(found->now), std::move(found->values));
        return true;
    }
    static PyObject* operated(PyObject* a, PyObject* b) {
        try {
            if (is_written(a, b)) return Py_NewRef(a);
        } catch (...) {
            set_python_error();
            return nullptr;
        }
        return by_method(a, b);
    }
};

void operate_quickly(nb::handle type) {
    auto* const object = reinterpret_cast<PyTypeObject*>(type.ptr());
    PyNumberMethods& slots = *object->tp_as_number;
    slots.nb_add = operated<0>;
    slots.nb_subtract = operated<1>;
    slots.nb_multiply = operated<2>;
    slots.nb_true_divide = operated<3>;
    slots.nb_floor_divide = operated<4>;
    slots.nb_remainder = operated<5>;
    power_by_method = std::exchange(slots.nb_power, raised);
    slots.nb_and = operated<7>;
    slots.nb_or = operated<8>;
    slots.nb_xor = operated<9>;
    slots.nb_lshift = operated<10>;
    slots.nb_rshift = operated<11>;
    slots.nb_matrix_multiply = multiplied;
    slots.nb_negative = operated_alone<0>;
    slots.nb_absolute = operated_alone<1>;
    object->tp_richcompare = compared;
    InPlace<0>::by_method = std::exchange(slots.nb_inplace_add, InPlace<0>::operated);
    InPlace<1>::by_method = std::exchange(slots.nb_inplace_subtract, InPlace<1>::operated);
    InPlace<2>::by_method = std::exchange(slots.nb_inplace_multiply, InPlace<2>::operated);
    InPlace<3>::by_method = std::exchange(slots.nb_inplace_true_divide, InPlace<3>::operated);
}

}  // namespace

void bind_operators(nb::module_& module) {
    auto type = nb::borrow<nb::class_<LazyTensor>>(module.attr("LazyTensor"));
    for (const Binary& operation : arithmetic) bind_binary(type, operation);
    for (const Binary& comparison : comparisons)
        type.def(
            comparison.python,
            [row = comparison.row](nb::handle object, nb::handle other) {
                if (is_asked(other, row)) return asked(row, object, other);
                if (!is_operand(other)) return not_implemented();
                const Tensor& x = self_of(object).tensor();
                return wrap(numpy::apply(row, {x, comparand(other, x)}));
            },
            nb::call_guard<Located>());
    bind_unary(type, "__neg__", "negative");
    bind_unary(type, "__pos__", "positive");
    bind_unary(type, "__abs__", "absolute");
    bind_unary(type, "__invert__", "invert");
    type.def(
        "__divmod__",
        [](nb::handle object, nb::handle other) {
            if (is_asked(other, "divmod")) return asked("divmod", object, other);
            if (!is_operand(other)) return not_implemented();
            const Tensor& self = self_of(object).tensor();
            const auto both = numpy::divmod(self, tensor_from(other));
            return nb::object(nb::make_tuple(wrap(both[0]), wrap(both[1])));
        },
        nb::call_guard<Located>());
    type.def(
        "__rdivmod__",
        [](nb::handle object, nb::handle other) {
            if (is_asked(other, "divmod")) return asked("divmod", other, object);
            if (!is_operand(other)) return not_implemented();
            const Tensor& self = self_of(object).tensor();
            const auto both = numpy::divmod(tensor_from(other), self);
            return nb::object(nb::make_tuple(wrap(both[0]), wrap(both[1])));
        },
        nb::call_guard<Located>());
    module.def(
        "array_ufunc_of",
        [](nb::handle general) {
            const nb::object function =
                nb::steal(PyCFunction_NewEx(&array_ufunc_method, general.ptr(), nullptr));
            return nb::steal(PyInstanceMethod_New(function.ptr()));
        },
        nb::arg("general"),
        "The method __array_ufunc__: operators of known numbers at once, all else by `general`.");
    operate_quickly(type);
}

}  // namespace composit::python
