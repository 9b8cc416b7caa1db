// Reading Python's index objects.
#include "indexing.h"

#include "cell.h"
#include "composit/base/error.h"
#include "location.h"
#include "values.h"

#include <algorithm>

namespace composit::python {
namespace {

namespace nb = nanobind;

std::optional<int64_t> bound_from(PyObject* value) {
    if (value == Py_None) return std::nullopt;
    user_check<TypeError>(
        PyIndex_Check(value),
        "slice indices must be integers or None or have an __index__ method, not ",
        nb::repr(nb::handle(value)).c_str(), ".");
    // Python's rule for slices: integers too large are the ends.
    const Py_ssize_t index = PyNumber_AsSsize_t(value, nullptr);
    if (index == -1 && PyErr_Occurred()) throw nb::python_error();
    return index;
}

// What NumPy says of lists that hold anything but numbers.
ir::Array index_array(nb::handle value) {
    try {
        return array_from(value);
    } catch (const TypeError&) {
        fail<IndexError>("arrays used as indices must be of integer (or boolean) type, not ",
                         nb::repr(value).c_str(), ".");
    }
}

// No length is as large as an integer that does not fit.
int64_t position_from(nb::handle value) {
    try {
        return integer_from(value);
    } catch (const OverflowError&) {
        fail<IndexError>("cannot fit 'int' into an index-sized integer: ", nb::repr(value).c_str(),
                         ".");
    }
}

numpy::IndexEntry tensor_entry(nb::handle value) {
    if (nb::isinstance<LazyTensor>(value)) return tensor_from(value);
    const Located located;
    ir::Array array = index_array(value);
    // An empty sequence has no dtype of its own.
    if (array.size() == 0 && !nb::isinstance(value, numpy_attribute("ndarray")))
        array = ir::Array(ir::DType::int64, array.shape());
    const Tensor tensor = ir::constant(std::move(array));
    user_check<IndexError>(ir::is_integer(tensor.dtype()) || tensor.dtype() == ir::DType::boolean,
                           "arrays used as indices must be of integer (or boolean) type, not ",
                           tensor.dtype(), ".");
    return tensor;
}

numpy::IndexEntry entry_from(nb::handle value) {
    PyObject* object = value.ptr();
    if (PySlice_Check(object)) {
        const auto* slice = reinterpret_cast<PySliceObject*>(object);
        return numpy::Slice{bound_from(slice->start), bound_from(slice->stop),
                            bound_from(slice->step)};
    }
    if (object == Py_Ellipsis) return numpy::Ellipsis{};
    if (value.is_none()) return numpy::NewAxis{};
    if (PyLong_CheckExact(object)) return position_from(value);
    if (PyBool_Check(object) || nb::isinstance<LazyTensor>(value) || PyList_Check(object) ||
        PyTuple_Check(object) || nb::isinstance(value, numpy_attribute("ndarray")))
        return tensor_entry(value);
    if (has_attribute(value, "lazy_tensor")) return tensor_from(value);
    if (PyIndex_Check(object)) return position_from(value);
    const bool is_array = !PyUnicode_Check(object) && has_attribute(value, "__array__");
    user_check<IndexError>(is_array,
                           "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) "
                           "and integer or boolean arrays are valid indices, not ",
                           nb::repr(value).c_str(), ".");
    return tensor_entry(value);
}

// Floats beside slices of floats are what NumPy complains about first.
void check_is_index(nb::handle item) {
    user_check<IndexError>(!PyFloat_Check(item.ptr()),
                           "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) "
                           "and integer or boolean arrays are valid indices, not ",
                           nb::repr(item).c_str(), ".");
}

}  // namespace

numpy::Index index_from(nb::handle key) {
    numpy::Index index;
    if (PyTuple_Check(key.ptr())) {
        for (nb::handle item : key) check_is_index(item);
        for (nb::handle item : key) index.push_back(entry_from(item));
    } else {
        index.push_back(entry_from(key));
    }
    const auto is_array = [](const numpy::IndexEntry& entry) {
        const auto* tensor = std::get_if<Tensor>(&entry);
        return tensor && (tensor->rank() > 0 || tensor->dtype() == ir::DType::boolean);
    };
    constexpr int64_t most = 63;  // NumPy's limit
    const int64_t count = std::count_if(index.begin(), index.end(), is_array);
    user_check<IndexError>(count <= most, "too many indices for array: ", count,
                           " arrays are given. At most ", most, " are allowed.");
    return index;
}

}  // namespace composit::python
