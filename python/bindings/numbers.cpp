#include "numbers.h"

#include "composit/eager/history.h"
#include "content.h"

namespace composit::python {
namespace {

// Of class LazyScalar, or an array of no dimension.
const LazyTensor* scalar_from(PyObject* value) {
    if (!is_tensor(value)) return nullptr;
    const auto& tensor = content_of<LazyTensor>(value);
    return tensor.known_number() || tensor.type().shape.empty() ? &tensor : nullptr;
}

}  // namespace

Ref<Deferred> known_number_from(PyObject* value) {
    if (PyFloat_CheckExact(value)) return Deferred::literal(PyFloat_AS_DOUBLE(value));
    if (PyBool_Check(value)) return Deferred::literal(value == Py_True);
    if (PyLong_CheckExact(value)) {
        int overflow = 0;
        const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
        return overflow ? Ref<Deferred>() : Deferred::literal(static_cast<int64_t>(integer));
    }
    const LazyTensor* const scalar = scalar_from(value);
    return scalar ? scalar->number() : Ref<Deferred>();
}

PyObject* applied_to_numbers(const ir::scalar::RowRef& row, PyObject* a, PyObject* b) {
    eager::shorten_history();
    const Ref<Deferred> x = known_number_from(a);
    if (!x) return nullptr;
    const Ref<Deferred> y = b ? known_number_from(b) : Ref<Deferred>();
    if (b && !y) return nullptr;
    Ref<Deferred> result = Deferred::applied(row, x, y);
    return result ? wrap_number(std::move(result)).release().ptr() : nullptr;
}

PyObject* python_number(const Deferred& number) {
    switch (number.dtype()) {
        case ir::DType::boolean: return PyBool_FromLong(number.number<bool>());
        case ir::DType::int8: return PyLong_FromLong(number.number<int8_t>());
        case ir::DType::int16: return PyLong_FromLong(number.number<int16_t>());
        case ir::DType::int32: return PyLong_FromLong(number.number<int32_t>());
        case ir::DType::int64: return PyLong_FromLongLong(number.number<int64_t>());
        case ir::DType::uint8: return PyLong_FromLong(number.number<uint8_t>());
        case ir::DType::uint16: return PyLong_FromLong(number.number<uint16_t>());
        case ir::DType::uint32: return PyLong_FromUnsignedLong(number.number<uint32_t>());
        case ir::DType::uint64: return PyLong_FromUnsignedLongLong(number.number<uint64_t>());
        case ir::DType::float32:
            return PyFloat_FromDouble(static_cast<double>(number.number<float>()));
        default: return PyFloat_FromDouble(number.number<double>());
    }
}

}  // namespace composit::python
