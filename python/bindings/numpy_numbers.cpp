#include "numpy_numbers.h"

#include "arrays.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <unordered_map>

namespace composit::python {
namespace {

namespace nb = nanobind;
using ir::DType;

struct NumberKind {
    const char* name;
    DType dtype;
};
constexpr NumberKind number_kinds[] = {
    {"float64", DType::float64}, {"int64", DType::int64},   {"float32", DType::float32},
    {"bool_", DType::boolean},   {"int32", DType::int32},   {"uint8", DType::uint8},
    {"int16", DType::int16},     {"int8", DType::int8},     {"uint16", DType::uint16},
    {"uint32", DType::uint32},   {"uint64", DType::uint64},
};

// The dtype of objects of exactly that type, if it is one of these.
const DType* number_dtype(const PyTypeObject* type) {
    static const auto& types = *[] {
        auto* const found = new std::array<const PyTypeObject*, std::size(number_kinds)>;
        std::transform(std::begin(number_kinds), std::end(number_kinds), found->begin(),
                       [](const NumberKind& kind) {
                           return reinterpret_cast<PyTypeObject*>(numpy_attribute(kind.name).ptr());
                       });
        return found;
    }();
    const auto* const at = std::find(types.begin(), types.end(), type);
    return at == types.end() ? nullptr : &number_kinds[at - types.begin()].dtype;
}

template <class T>
uint64_t bytes_as_bits(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

uint64_t number_bits(PyObject* value, DType dtype) {
    if (dtype == DType::float64) return bytes_as_bits(PyFloat_AS_DOUBLE(value));  // it is a float
    if (dtype == DType::boolean) return PyObject_IsTrue(value) == 1 ? 1 : 0;
    if (dtype == DType::float32) {
        const nb::object number = nb::steal(PyNumber_Float(value));
        return bytes_as_bits(static_cast<float>(PyFloat_AS_DOUBLE(number.ptr())));
    }
    const nb::object integer = nb::steal(PyNumber_Index(value));
    const uint64_t whole = dtype == DType::uint64
                               ? PyLong_AsUnsignedLongLong(integer.ptr())
                               : static_cast<uint64_t>(PyLong_AsLongLong(integer.ptr()));
    const int64_t bytes = ir::size_of(dtype);
    return bytes == 8 ? whole : whole & ((uint64_t{1} << (8 * bytes)) - 1);
}

}  // namespace

bool is_numpy_number(PyObject* value) { return number_dtype(Py_TYPE(value)) != nullptr; }

Ref<eager::Deferred> numpy_number_from(PyObject* value) {
    const DType* const dtype = number_dtype(Py_TYPE(value));
    return dtype ? eager::Deferred::scalar(*dtype, number_bits(value, *dtype))
                 : Ref<eager::Deferred>();
}

const ir::scalar::RowRef* row_of_ufunc(PyObject* ufunc) {
    static const auto& rows = *[] {
        auto* const found = new std::unordered_map<PyObject*, const ir::scalar::RowRef*>;
        for (const char* name :
             {"add", "subtract", "multiply", "divide", "floor_divide", "remainder", "less",
              "less_equal", "greater", "greater_equal", "equal", "not_equal", "bitwise_and",
              "bitwise_or", "bitwise_xor", "left_shift", "right_shift"})
            found->emplace(numpy_attribute(name).ptr(), &ir::scalar::table_row(name));
        return found;
    }();
    const auto at = rows.find(ufunc);
    return at == rows.end() ? nullptr : at->second;
}

}  // namespace composit::python
