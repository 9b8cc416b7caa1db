// The quick way into elementwise functions: calls of a ufunc with tensors and numbers alone make
// their node here. Everything else is _ufunc.py's business.
#include "row_function.h"

#include "arguments.h"
#include "casters.h"
#include "composit/numpy/elementwise.h"
#include "content.h"
#include "location.h"
#include "numbers.h"
#include "numpy.h"

#include <nanobind/stl/shared_ptr.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

namespace composit::python {
namespace {

namespace scalar = ir::scalar;

constexpr std::string_view comparisons[] = {"less",          "less_equal", "greater",
                                            "greater_equal", "equal",      "not_equal"};

// What Python's class Ufunc inherits.
struct RowFunction {
    scalar::RowRef row;
    bool is_user_row;  // another one may take its name: it is looked up at each call
    bool is_comparison;
    const scalar::RowRef* of_numbers;  // the table's, for numbers that are known; null: not so

    // By name: what the table holds, not the Python object that was given for it.
    explicit RowFunction(const scalar::Row& given)
        : row(scalar::row(given.name)),
          is_user_row(scalar::is_user_row(*row)),
          is_comparison(std::ranges::find(comparisons, given.name) != std::end(comparisons)),
          of_numbers(is_user_row || row->arity > 2 || row->name == "power" || row->name == "ldexp"
                         ? nullptr
                         : &scalar::table_row(row->name)) {}
};

// Whether it is one of NumPy's own arrays, of numbers that composit has.
bool is_array_of_numbers(nb::handle object) {
    if (!object.type().is(numpy_attribute("ndarray"))) return false;
    const nb::object dtype = object.attr("dtype");
    const auto kind = nb::cast<std::string>(dtype.attr("kind"));
    const auto bytes = nb::cast<int64_t>(dtype.attr("itemsize"));
    return kind == "b" || kind == "i" || kind == "u" || (kind == "f" && bytes <= 8) ||
           (kind == "c" && bytes <= 16);
}

bool is_plain(PyObject* object) {
    return is_tensor(object) || PyFloat_CheckExact(object) || PyLong_CheckExact(object) ||
           PyBool_Check(object) || is_array_of_numbers(object);
}

nb::object applied(const RowFunction& function, PyObject* arguments) {
    const Entered entered;
    const Located located;
    if (function.of_numbers) {
        const bool is_binary = PyTuple_GET_SIZE(arguments) == 2;
        PyObject* const found =
            applied_to_numbers(*function.of_numbers, PyTuple_GET_ITEM(arguments, 0),
                               is_binary ? PyTuple_GET_ITEM(arguments, 1) : nullptr);
        if (found) return nb::steal(found);
    }
    std::vector<Tensor> operands;
    operands.reserve(static_cast<size_t>(PyTuple_GET_SIZE(arguments)));
    PyObject* const* const items = &PyTuple_GET_ITEM(arguments, 0);
    if (function.is_comparison && (is_tensor(items[0]) || is_tensor(items[1]))) {
        const bool is_turned = !is_tensor(items[0]);
        operands.push_back(tensor_from(items[is_turned]));
        operands.push_back(comparand(items[!is_turned], operands[0]));
        if (is_turned) std::swap(operands[0], operands[1]);
    } else {
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(arguments); ++i)
            operands.push_back(tensor_from(items[i]));
    }
    const Tensor result =
        function.is_user_row
            ? numpy::apply_row(scalar::row(function.row->name), std::move(operands))
            : numpy::apply_row(function.row, std::move(operands));
    return wrap_elementwise(result, items, static_cast<size_t>(PyTuple_GET_SIZE(arguments)));
}

PyObject* call(PyObject* self, PyObject* arguments, PyObject* keywords) {
    PyObject* const* const items = &PyTuple_GET_ITEM(arguments, 0);
    const Py_ssize_t count = PyTuple_GET_SIZE(arguments);
    try {
        const auto& function = content_of<RowFunction>(self);
        if (!keywords && count == function.row->arity &&
            std::all_of(items, items + count, is_plain))
            return applied(function, arguments).release().ptr();
        const nb::object method = nb::handle(self).attr("__call__");
        return PyObject_Call(method.ptr(), arguments, keywords);
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

}  // namespace

const void* table_row_of(PyObject* object) {
    if (!nb::isinstance<RowFunction>(object)) return nullptr;
    const auto& function = content_of<RowFunction>(object);
    return function.of_numbers ? function.row.get() : nullptr;
}

bool is_table_row(PyObject* object, std::string_view name) {
    return table_row_of(object) && content_of<RowFunction>(object).row->name == name;
}

void bind_row_function(nb::module_& module) {
    nb::class_<RowFunction>(module, "RowFunction", "A row of the table that can be called.")
        .def(nb::init<const scalar::Row&>())
        .def_prop_ro("row", [](const RowFunction& self) {
            return std::const_pointer_cast<scalar::Row>(self.row);
        });
    // Python finds `__call__` for who asks for it by name; calls themselves come through this slot.
    module.def(
        "call_quickly",
        [](nb::type_object_t<RowFunction> type) {
            reinterpret_cast<PyTypeObject*>(type.ptr())->tp_call = call;
        },
        "Lets calls of a class of RowFunctions try the quick way before its __call__.");
}

}  // namespace composit::python
