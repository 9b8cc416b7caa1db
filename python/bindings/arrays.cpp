// The one file that uses NumPy's C interface: its macros read an array in a few instructions, where
// attributes and the buffer protocol take a microsecond.
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#define NPY_TARGET_VERSION NPY_2_0_API_VERSION
#include "arrays.h"

#include "arguments.h"
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/ir/dtype_traits.h"
#include "interpreter_lock.h"
#include "provided.h"

#include <nanobind/stl/string.h>
#include <numpy/arrayobject.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <unordered_map>

namespace composit::python {
namespace {

using ir::DType;

PyArrayObject* ndarray_of(nb::handle value) {
    return reinterpret_cast<PyArrayObject*>(value.ptr());
}

// By NumPy's type numbers; long and long long are both 64 bits wide here.
std::optional<DType> dtype_of_number(int number) {
    switch (number) {
        case NPY_BOOL: return DType::boolean;
        case NPY_BYTE: return DType::int8;
        case NPY_UBYTE: return DType::uint8;
        case NPY_SHORT: return DType::int16;
        case NPY_USHORT: return DType::uint16;
        case NPY_INT: return DType::int32;
        case NPY_UINT: return DType::uint32;
        case NPY_LONG:
        case NPY_LONGLONG: return DType::int64;
        case NPY_ULONG:
        case NPY_ULONGLONG: return DType::uint64;
        case NPY_FLOAT: return DType::float32;
        case NPY_DOUBLE: return DType::float64;
        case NPY_CFLOAT: return DType::complex64;
        case NPY_CDOUBLE: return DType::complex128;
        case NPY_HALF: return DType::float16;
        default: return std::nullopt;
    }
}

// A dtype by a name that NumPy lacks.
std::optional<DType> extension_named(std::string_view name) {
    const std::optional<DType> found = ir::find_dtype(name);
    return found && ir::is_extension(*found) ? found : std::nullopt;
}

// The package ml_dtypes teaches NumPy these dtypes.
nb::object extension_class(DType dtype) {
    const std::string name(ir::name(dtype));
    try {
        return nb::module_::import_("ml_dtypes").attr(name.c_str());
    } catch (const nb::python_error& error) {
        user_check<TypeError>(!error.matches(PyExc_ImportError), "dtype ", name,
                              ": NumPy has it with the package ml_dtypes only, which is not "
                              "installed (pip install ml_dtypes). Use float32 otherwise.");
        throw;
    }
}

// The name of the one field that donated arrays have.
const char* const donated = "donated";

bool is_given_up(PyArray_Descr* descr) {
    if (descr->type_num != NPY_VOID) return false;
    const nb::object names = nb::handle(reinterpret_cast<PyObject*>(descr)).attr("names");
    return !names.is_none() && names.equal(nb::make_tuple(donated));
}

void check_not_given_up(PyArray_Descr* descr) {
    user_check(!is_given_up(descr),
               "The array was donated to a compiled function, which may have written over it. Use "
               "what the call returned.");
}

DType dtype_of(nb::handle numpy_dtype) {
    const int number = reinterpret_cast<PyArray_Descr*>(numpy_dtype.ptr())->type_num;
    if (const std::optional<DType> known = dtype_of_number(number)) return *known;
    check_not_given_up(reinterpret_cast<PyArray_Descr*>(numpy_dtype.ptr()));
    const std::string name = nb::cast<std::string>(nb::str(numpy_dtype.attr("name")));
    if (const std::optional<DType> known = extension_named(name)) return *known;
    const nb::object advice = provided("advice")(numpy_dtype.attr("kind"));
    fail<TypeError>("dtype ", name,
                    " is not supported. Booleans, integers, floats and complex numbers are. ",
                    nb::cast<std::string>(advice));
}

ir::Shape shape_of(PyArrayObject* array) {
    const npy_intp* lengths = PyArray_DIMS(array);
    return ir::Shape(lengths, lengths + PyArray_NDIM(array));
}

// The last owner may end on any thread.
struct Releases {
    PyObject* held;
    void operator()(void*) const {
        const Acquired acquired;
        Py_DECREF(held);
    }
};

// By all threads where there is much: fresh memory is mapped as it is written.
void copy_bytes(void* to, const void* from, int64_t bytes) {
    constexpr int64_t part = int64_t{1} << 20;
    const auto copy = [&](int64_t number) {
        const int64_t start = number * part, length = std::min(part, bytes - start);
        std::memcpy(static_cast<char*>(to) + start, static_cast<const char*>(from) + start,
                    static_cast<size_t>(length));
    };
    if (bytes > part)
        execute::parallel_for(0)((bytes + part - 1) / part, copy);
    else if (bytes > 0)
        copy(0);
}

const char* const memory_name = "composit.memory";

void free_memory(PyObject* capsule) {
    delete static_cast<std::shared_ptr<void>*>(PyCapsule_GetPointer(capsule, memory_name));
}

}  // namespace

nb::handle numpy_attribute(const char* name) {
    static auto* known = new std::unordered_map<std::string, nb::object>;
    nb::object& object = (*known)[name];
    if (!object.is_valid()) object = nb::module_::import_("numpy").attr(name);
    return object;
}

DType dtype_from(nb::handle value) {
    if (PyUnicode_Check(value.ptr()))
        if (const auto known = extension_named(nb::cast<std::string>(value))) {
            extension_class(*known);
            return *known;
        }
    if (PyArray_DescrCheck(value.ptr())) return dtype_of(value);
    try {
        return dtype_of(numpy_attribute("dtype")(value));
    } catch (const nb::python_error& error) {
        if (error.matches(PyExc_ValueError)) refuse_argument<ValueError>(value, "A dtype");
        if (!error.matches(PyExc_TypeError)) throw;
    }
    refuse_argument(value, "A dtype");
}

nb::object dtype_object(DType dtype) {
    static auto* known = new std::array<nb::object, ir::dtype_count>;
    nb::object& object = (*known)[static_cast<size_t>(dtype)];
    if (object.is_valid()) return object;
    if (ir::is_extension(dtype))
        object = numpy_attribute("dtype")(extension_class(dtype));
    else
        object = numpy_attribute("dtype")(nb::str(std::string(ir::name(dtype)).c_str()));
    return object;
}

ir::Array array_from(nb::handle value, bool copy) {
    const char* const required = "An array of booleans, integers, floats or complex numbers";
    nb::object source = nb::borrow(value);
    if (!PyArray_Check(source.ptr())) try {
            source = numpy_attribute("asarray")(source);
        } catch (const nb::python_error& error) {
            if (error.matches(PyExc_ValueError)) refuse_argument<ValueError>(value, required);
            throw;
        }
    const int number = PyArray_TYPE(ndarray_of(source));
    if (number == NPY_UNICODE || number == NPY_STRING || number == NPY_OBJECT)
        refuse_argument(value, required);
    const DType dtype =
        dtype_of(nb::handle(reinterpret_cast<PyObject*>(PyArray_DESCR(ndarray_of(source)))));
    const ir::Shape shape = shape_of(ndarray_of(source));
    // Native, aligned and row-major; a new array where it is not.
    if (!PyArray_ISCARRAY_RO(ndarray_of(source))) {
        source = nb::steal(PyArray_NewCopy(ndarray_of(source), NPY_CORDER));
        if (!source.is_valid()) throw nb::python_error();
        if (PyArray_ISBYTESWAPPED(ndarray_of(source)))
            source = source.attr("astype")(dtype_object(dtype));
    }
    void* data = PyArray_DATA(ndarray_of(source));
    const npy_intp bytes = PyArray_NBYTES(ndarray_of(source));
    // Made here, so that nobody else can write to it.
    const bool is_fresh = source.ptr() != value.ptr() && Py_REFCNT(source.ptr()) == 1 &&
                          PyArray_CHKFLAGS(ndarray_of(source), NPY_ARRAY_OWNDATA);
    if ((!copy || is_fresh) && bytes > 0) {
        PyObject* held = source.release().ptr();
        return ir::Array(dtype, shape, std::shared_ptr<void>(data, Releases{held}), data,
                         !is_fresh);
    }
    ir::Array array(dtype, shape);
    copy_bytes(array.mutable_data(), data, bytes);
    return array;
}

namespace {

nb::object new_ndarray(const ir::Array& array, void* data) {
    const bool is_extension = ir::is_extension(array.dtype());
    nb::object dtype = dtype_object(is_extension ? ir::unsigned_of_size(ir::size_of(array.dtype()))
                                                 : array.dtype());
    const ir::Shape& shape = array.shape();
    std::array<npy_intp, NPY_MAXDIMS> lengths;
    user_check(shape.size() <= lengths.size(), "evaluate: the result has ", shape.size(),
               " axes. NumPy arrays have at most ", lengths.size(), ".");
    std::copy(shape.begin(), shape.end(), lengths.begin());
    nb::object result = nb::steal(
        PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(dtype.release().ptr()),
                             static_cast<int>(shape.size()), lengths.data(), nullptr, data,
                             data ? NPY_ARRAY_CARRAY : 0, nullptr));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}

// What NumPy lacks is the bits of an integer until here.
nb::object of_its_dtype(nb::object result, DType dtype) {
    return ir::is_extension(dtype) ? result.attr("view")(dtype_object(dtype)) : result;
}

}  // namespace

nb::object ndarray_over(const ir::Array& array) {
    nb::object result = new_ndarray(array, array.mutable_data());
    auto owner = std::make_unique<std::shared_ptr<void>>(array.owner());
    PyObject* base = PyCapsule_New(owner.get(), memory_name, free_memory);
    if (!base) throw nb::python_error();
    owner.release();
    if (PyArray_SetBaseObject(ndarray_of(result), base) != 0) throw nb::python_error();
    return of_its_dtype(std::move(result), array.dtype());
}

nb::object ndarray_from(ir::Array array) {
    array = array.on_host();
    // Owning memory of another's takes longer than copying a little.
    constexpr int64_t little = 1024;
    // Borrowed memory may be a file's, which cannot be written.
    const bool is_handed_over =
        array.bytes() > little && array.owner().use_count() == 1 && !array.is_borrowed();
    if (is_handed_over) return ndarray_over(array);
    nb::object result = new_ndarray(array, nullptr);
    if (array.size() > 0)
        std::memcpy(PyArray_DATA(ndarray_of(result)), array.data(),
                    static_cast<size_t>(array.bytes()));
    return of_its_dtype(std::move(result), array.dtype());
}

bool has_class_of_its_own(nb::handle value) {
    if (!PyArray_Check(value.ptr()) || PyArray_CheckExact(value.ptr())) return false;
    return !nb::isinstance(value, numpy_attribute("memmap"));
}

bool holds_no_numbers(nb::handle value) {
    if (!PyArray_Check(value.ptr())) return false;
    if (has_class_of_its_own(value)) return true;
    PyArray_Descr* const descr = PyArray_DESCR(ndarray_of(value));
    const bool is_legacy = descr->type_num >= NPY_OBJECT && descr->type_num <= NPY_TIMEDELTA;
    return (is_legacy || descr->type_num == NPY_VSTRING) && !is_given_up(descr);
}

std::optional<PlainArray> plain_array(nb::handle value) {
    if (!PyArray_CheckExact(value.ptr())) return std::nullopt;
    PyArrayObject* array = ndarray_of(value);
    if (!PyArray_ISCARRAY_RO(array)) return std::nullopt;
    const std::optional<DType> dtype = dtype_of_number(PyArray_TYPE(array));
    if (!dtype) return std::nullopt;
    return PlainArray{*dtype, PyArray_DIMS(array), PyArray_NDIM(array), PyArray_DATA(array)};
}

bool owns_memory(nb::handle ndarray) {
    PyArrayObject* array = ndarray_of(ndarray);
    if (!PyArray_ISWRITEABLE(array)) return false;
    if (PyArray_CHKFLAGS(array, NPY_ARRAY_OWNDATA)) return true;
    PyObject* const base = PyArray_BASE(array);
    if (base == nullptr) return false;
    if (PyCapsule_IsValid(base, memory_name)) return true;
    // What an earlier call returned lies over what it was given.
    return PyArray_CheckExact(base) && is_given_up(PyArray_DESCR(ndarray_of(base))) &&
           PyArray_DATA(ndarray_of(base)) == PyArray_DATA(array) &&
           PyArray_NBYTES(ndarray_of(base)) == PyArray_NBYTES(array);
}

nb::object view_of(nb::handle ndarray, nb::object dtype) {
    PyArrayObject* const array = ndarray_of(ndarray);
    nb::object view = nb::steal(
        PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(dtype.release().ptr()),
                             PyArray_NDIM(array), PyArray_DIMS(array), PyArray_STRIDES(array),
                             PyArray_DATA(array), PyArray_FLAGS(array), nullptr));
    if (!view.is_valid() ||
        PyArray_SetBaseObject(ndarray_of(view), nb::borrow(ndarray).release().ptr()) != 0)
        throw nb::python_error();
    return view;
}

nb::object given_up_dtype(nb::handle value) {
    if (!PyArray_Check(value.ptr())) return {};
    PyArray_Descr* const own = PyArray_DESCR(ndarray_of(value));
    if (is_given_up(own)) return {};
    static auto* const known = new std::unordered_map<PyArray_Descr*, nb::object>;  // of singletons
    const auto made = [&] {
        nb::list fields;
        fields.append(nb::make_tuple(donated, value.attr("dtype")));
        return nb::object(numpy_attribute("dtype")(fields));
    };
    if (own->type_num >= NPY_NTYPES_LEGACY) return made();
    const nb::object single =
        nb::steal(reinterpret_cast<PyObject*>(PyArray_DescrFromType(own->type_num)));
    if (single.ptr() != reinterpret_cast<PyObject*>(own)) return made();
    nb::object& found = (*known)[own];
    if (!found.is_valid()) found = made();
    return found;
}

nb::object dtype_to_give_up(nb::handle value) {
    if (!PyArray_Check(value.ptr())) return {};
    PyArray_Descr* const own = PyArray_DESCR(ndarray_of(value));
    check_not_given_up(own);
    return nb::borrow(reinterpret_cast<PyObject*>(own));
}

void give_up(nb::handle value, nb::object given_up_dtype) noexcept {
    if (!given_up_dtype.is_valid()) return;
    // What `value.dtype = …` does, which asks a function of Python's first whether it may.
    auto* const fields = reinterpret_cast<PyArrayObject_fields*>(value.ptr());
    auto* const descr = reinterpret_cast<PyArray_Descr*>(given_up_dtype.release().ptr());
    Py_DECREF(std::exchange(fields->descr, descr));
}

void bind_arrays(nb::module_&) {
    if (PyArray_ImportNumPyAPI() != 0) throw nb::python_error();
}

}  // namespace composit::python
