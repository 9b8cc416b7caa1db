// composit/numpy/indexing.h; what indices of x.flat mean.
#include "casters.h"
#include "composit/base/error.h"
#include "composit/numpy/indexing.h"
#include "indexing.h"
#include "location.h"
#include "numpy.h"
#include "shown.h"
#include "values.h"

#include <algorithm>
#include <string>
#include <vector>

namespace composit::python {
namespace {

void warn_deprecated(const char* what) {
    constexpr Py_ssize_t of_user = 2;  // who calls x.flat's method
    if (PyErr_WarnEx(PyExc_DeprecationWarning, what, of_user) != 0) throw nb::python_error();
}

void warn_of_numbers() {
    warn_deprecated(
        "a.flat: Invalid non-array indices for iterator objects are deprecated, as in NumPy 2.4.");
}

std::string kind_of_elements(nb::handle value) {
    const nb::object dtype = nb::getattr(value, "dtype", nb::none());
    const nb::object kind = nb::getattr(dtype, "kind", nb::none());
    return nb::isinstance<nb::str>(kind) ? nb::cast<std::string>(kind) : std::string();
}

nb::object listed_key(nb::handle index) {
    const nb::object array = numpy_attribute("asarray")(index);
    const std::string kind = kind_of_elements(array);
    user_check<IndexError>(kind != "b",
                           "boolean indices for iterators are not supported: ", Said{index},
                           ". Make it an array.");
    if (kind == "f" && nb::cast<int64_t>(array.attr("size")) > 0) warn_of_numbers();
    return array.attr("astype")("int64");
}

// An index of x.flat as one of the flattened tensor, of so many elements; an ellipsis for all.
nb::object flat_key(nb::object index, int64_t size) {
    if (PyTuple_Check(index.ptr())) {
        const size_t count = nb::len(index);
        user_check<IndexError>(count <= 1,
                               "too many indices for flat iterator: flat iterator is "
                               "1-dimensional, but ",
                               count, " were indexed.");
        index = count == 1 ? nb::object(index[0]) : nb::borrow(Py_Ellipsis);
    }
    if (index.is(nb::handle(Py_Ellipsis)) || PySlice_Check(index.ptr())) return index;
    if (PyBool_Check(index.ptr()) || nb::isinstance(index, numpy_attribute("bool_"))) {
        warn_deprecated("a.flat: 0-dimensional boolean index is deprecated, as in NumPy 2.4.");
        if (PyObject_IsTrue(index.ptr()) == 1) return nb::int_(0);
        return nb::steal(PySlice_New(nb::int_(0).ptr(), nb::int_(0).ptr(), nullptr));
    }
    if (PyFloat_Check(index.ptr())) {
        warn_of_numbers();
        nb::object made = nb::steal(PyNumber_Long(index.ptr()));
        if (!made.is_valid()) throw nb::python_error();
        return made;
    }
    user_check<IndexError>(!index.is_none() && !PyUnicode_Check(index.ptr()),
                           "only integers, slices (`:`), ellipsis (`...`) and integer or boolean "
                           "arrays are valid indices, not ",
                           Shown{index}, ".");
    if (PyList_Check(index.ptr())) return listed_key(index);
    if (kind_of_elements(index) == "b") {
        const nb::object shape = index.attr("shape");
        user_check<IndexError>(shape.equal(nb::make_tuple(size)),
                               "boolean index did not match indexed flat iterator along axis 0; "
                               "size of axis is ",
                               size, " but size of corresponding boolean axis is ", Said{shape},
                               ".");
        return index;
    }
    if (has_attribute(index, "__array__") || has_attribute(index, "dtype")) return index;
    nb::object made = nb::steal(PyNumber_Index(index.ptr()));
    if (!made.is_valid()) throw nb::python_error();
    return made;
}

// The index of the element at a position of the flattened tensor; positions behind the last go on
// along the last axis.
nb::tuple coordinates_of(const ir::Shape& shape, int64_t position) {
    std::vector<int64_t> made(shape.size());
    for (size_t i = shape.size(); i-- > 0;) {
        const int64_t length = std::max<int64_t>(shape[i], 1);
        made[i] = position % length;
        position /= length;
    }
    if (!made.empty()) made[0] += position * std::max<int64_t>(shape[0], 1);
    return tuple_from(made);
}

}  // namespace

void bind_numpy_indexing(nb::module_& module) {
    const nb::call_guard<Located> located;
    module.def(
        "get_item",
        [](const Tensor& x, nb::handle index) { return numpy::get_item(x, index_from(index)); },
        located);
    module.def(
        "set_item",
        [](const Tensor& x, nb::handle index, const numpy::Operand& value) {
            return numpy::set_item(x, index_from(index), value);
        },
        located);
    module.def(
        "add_at",
        [](const Tensor& x, nb::handle index, const numpy::Operand& value) {
            return numpy::add_at(x, index_from(index), value);
        },
        located);
    module.def("flat_key", flat_key, nb::arg("index").none(), nb::arg("size"), located,
               "An index of x.flat as one of the flattened tensor, of so many elements; an "
               "ellipsis for all.");
    module.def("coordinates_of", coordinates_of, nb::arg("shape"), nb::arg("position"),
               "The index of the element at a position of the flattened tensor.");
    module.def("nonzero", &numpy::nonzero, located);
}

}  // namespace composit::python
