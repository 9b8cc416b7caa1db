// Conversions between NumPy's objects and composit's, through the buffer protocol: no NumPy
// headers.
#include "values.h"

#include "cell.h"
#include "composit/base/error.h"
#include "location.h"

#include <cstring>
#include <string>
#include <unordered_map>

namespace composit::python {
namespace {

using ir::DType;

// Elements that an ndarray borrows: `array` lives as long as any ndarray over it.
struct Memory {
    ir::Array array;
};

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
    Memory* memory = nb::inst_ptr<Memory>(object);
    return PyBuffer_FillInfo(view, object, memory->array.mutable_data(), memory->array.bytes(), 0,
                             flags);
}

PyType_Slot memory_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

// NumPy's type numbers; long and long long are both 64 bits wide here.
const std::unordered_map<int64_t, DType>& numpy_numbers() {
    static const auto* numbers = new std::unordered_map<int64_t, DType>{
        {0, DType::boolean},  {1, DType::int8},       {2, DType::uint8},
        {3, DType::int16},    {4, DType::uint16},     {5, DType::int32},
        {6, DType::uint32},   {7, DType::int64},      {8, DType::uint64},
        {9, DType::int64},    {10, DType::uint64},    {11, DType::float32},
        {12, DType::float64}, {14, DType::complex64}, {15, DType::complex128},
        {23, DType::float16}};
    return *numbers;
}

DType dtype_of(nb::handle numpy_dtype) {
    const auto number = nb::cast<int64_t>(numpy_dtype.attr("num"));
    const auto found = numpy_numbers().find(number);
    if (found != numpy_numbers().end()) return found->second;
    const std::string name = nb::cast<std::string>(nb::str(numpy_dtype.attr("name")));
    user_check<TypeError>(name == "bfloat16", "dtype ", name,
                          " is not supported. Booleans, integers, floats and complex numbers are.");
    return DType::bfloat16;
}

void release_view(Py_buffer* view) {
    const PyGILState_STATE state = PyGILState_Ensure();
    PyBuffer_Release(view);
    PyGILState_Release(state);
    delete view;
}

ir::Shape shape_of(nb::handle ndarray) { return integers_from(ndarray.attr("shape")); }

}  // namespace

nb::handle numpy_attribute(const char* name) {
    static auto* known = new std::unordered_map<std::string, nb::object>;
    nb::object& object = (*known)[name];
    if (!object.is_valid()) object = nb::module_::import_("numpy").attr(name);
    return object;
}

DType dtype_from(nb::handle value) {
    if (PyUnicode_Check(value.ptr()) && nb::cast<std::string>(value) == "bfloat16")
        return DType::bfloat16;
    if (nb::isinstance(value, numpy_attribute("dtype"))) return dtype_of(value);
    return dtype_of(numpy_attribute("dtype")(value));
}

nb::object dtype_object(DType dtype) {
    static auto* known = new std::vector<nb::object>(ir::dtype_count);
    nb::object& object = (*known)[static_cast<size_t>(dtype)];
    if (object.is_valid()) return object;
    if (dtype == DType::bfloat16)
        object = numpy_attribute("dtype")(nb::module_::import_("ml_dtypes").attr("bfloat16"));
    else
        object = numpy_attribute("dtype")(nb::str(std::string(ir::name(dtype)).c_str()));
    return object;
}

ir::Array array_from(nb::handle ndarray, bool copy) {
    nb::object source = nb::borrow(ndarray);
    const DType dtype = dtype_of(source.attr("dtype"));
    ir::Shape shape = shape_of(source);
    if (!nb::cast<bool>(source.attr("dtype").attr("isnative")))
        source = source.attr("astype")(dtype_object(dtype));
    if (!nb::cast<bool>(source.attr("flags").attr("c_contiguous"))) {
        source = numpy_attribute("ascontiguousarray")(source);
        copy = true;
    }
    if (dtype == DType::bfloat16) source = source.attr("view")("uint16");
    auto view = std::make_unique<Py_buffer>();
    if (PyObject_GetBuffer(source.ptr(), view.get(), PyBUF_SIMPLE) != 0) throw nb::python_error();
    std::shared_ptr<Py_buffer> held(view.release(), release_view);
    const auto address = reinterpret_cast<uintptr_t>(held->buf);
    if (!copy && address % static_cast<uintptr_t>(ir::align_of(dtype)) == 0 && held->len > 0)
        return ir::Array(dtype, std::move(shape), held, held->buf);
    ir::Array array(dtype, std::move(shape));
    if (held->len > 0) std::memcpy(array.mutable_data(), held->buf, static_cast<size_t>(held->len));
    return array;
}

nb::object ndarray_from(ir::Array array) {
    const nb::tuple shape = tuple_from(array.shape());
    const bool is_half = array.dtype() == DType::bfloat16;
    const nb::object dtype = dtype_object(is_half ? DType::uint16 : array.dtype());
    nb::object result;
    if (array.size() > 0 && array.owner().use_count() == 1) {
        nb::object memory = nb::inst_alloc(nb::type<Memory>());
        new (nb::inst_ptr<Memory>(memory)) Memory{array};
        nb::inst_set_state(memory, true, true);
        result = numpy_attribute("ndarray")(shape, dtype, memory);
    } else {
        result = numpy_attribute("empty")(shape, dtype);
        Py_buffer view;
        if (PyObject_GetBuffer(result.ptr(), &view, PyBUF_WRITABLE) != 0) throw nb::python_error();
        if (view.len > 0) std::memcpy(view.buf, array.data(), static_cast<size_t>(view.len));
        PyBuffer_Release(&view);
    }
    return is_half ? result.attr("view")(dtype_object(DType::bfloat16)) : result;
}

bool is_operand(nb::handle value) {
    PyObject* object = value.ptr();
    if (nb::isinstance<LazyTensor>(value) || PyFloat_Check(object) || PyLong_Check(object) ||
        PyComplex_Check(object) || PyList_Check(object) || PyTuple_Check(object))
        return true;
    if (PyUnicode_Check(object) || PyBytes_Check(object) || value.is_none()) return false;
    if (PyObject_HasAttrString(object, "__array_ufunc__"))
        return !nb::object(value.attr("__array_ufunc__")).is_none();
    return PyObject_HasAttrString(object, "__array__") || PyObject_CheckBuffer(object);
}

ir::Tensor tensor_from(nb::handle value) {
    PyObject* object = value.ptr();
    if (nb::isinstance<LazyTensor>(value)) return nb::inst_ptr<LazyTensor>(value)->tensor();
    const Located located;
    if (PyBool_Check(object)) return ir::weak_scalar(object == Py_True);
    if (PyFloat_CheckExact(object)) return ir::weak_scalar(PyFloat_AS_DOUBLE(object));
    if (PyLong_CheckExact(object)) {
        int overflow = 0;
        const long long integer = PyLong_AsLongLongAndOverflow(object, &overflow);
        if (!overflow) return ir::weak_scalar(static_cast<int64_t>(integer));
    }
    user_check<NotSupported>(!PyComplex_CheckExact(object),
                             "a Python complex number as an operand is not supported yet. "
                             "Use numpy.complex64 or numpy.complex128.");
    if (nb::hasattr(value, "lazy_tensor")) return tensor_from(value.attr("lazy_tensor"));
    if (nb::isinstance(value, numpy_attribute("ndarray"))) return ir::constant(array_from(value));
    if (PyList_Check(object) || PyTuple_Check(object))
        for (nb::handle item : value)
            if (nb::isinstance<LazyTensor>(item))
                return tensor_from(nb::module_::import_("composit.numpy").attr("stack")(value));
    return ir::constant(array_from(numpy_attribute("asarray")(value)));
}

int64_t integer_from(nb::handle value) {
    const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid()) throw nb::python_error();
    const long long integer = PyLong_AsLongLong(index.ptr());
    if (integer == -1 && PyErr_Occurred()) throw nb::python_error();
    return integer;
}

std::vector<int64_t> integers_from(nb::handle value) {
    if (PyLong_Check(value.ptr()) || !PySequence_Check(value.ptr())) return {integer_from(value)};
    std::vector<int64_t> integers;
    for (nb::handle item : value) integers.push_back(integer_from(item));
    return integers;
}

nb::tuple tuple_from(const std::vector<int64_t>& values) {
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(values.size()));
    if (!tuple) throw nb::python_error();
    for (size_t i = 0; i < values.size(); ++i)
        PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
    return nb::steal<nb::tuple>(tuple);
}

void bind_memory(nb::module_& module) {
    nb::class_<Memory>(module, "Memory", nb::type_slots(memory_slots),
                       "The memory of a result, for the ndarray over it.");
}

}  // namespace composit::python
