#include "numbers.h"

#include "composit/eager/history.h"
#include "composit/eager/small_arrays.h"
#include "content.h"
#include "numpy_numbers.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace composit::python {
namespace {

// Of class LazyScalar, or an array of no dimension.
const LazyTensor* scalar_from(PyObject* value) {
    if (!is_tensor(value)) return nullptr;
    const auto& tensor = content_of<LazyTensor>(value);
    return tensor.known_number() || tensor.type().shape.empty() ? &tensor : nullptr;
}

// An array, or a number; nothing where it is neither.
std::optional<eager::SmallOperand> small_from(PyObject* value) {
    if (is_tensor(value)) {
        const auto& tensor = content_of<LazyTensor>(value);
        if (!tensor.type().shape.empty()) return eager::SmallOperand{tensor.cell().get(), {}};
    }
    Ref<Deferred> number = known_number_from(value);
    if (!number) return {};
    return eager::SmallOperand{nullptr, std::move(number)};
}

PyObject* wrapped(std::optional<eager::SmallArray> array) {
    if (!array) return nullptr;
    return wrap_cell(Cell::make_known(std::move(array->now), std::move(array->values)))
        .release()
        .ptr();
}

// Of such a value; nothing where it has more than 64 bits.
std::optional<eager::Scalar> literal_from(PyObject* value) {
    if (PyFloat_CheckExact(value))
        return eager::Scalar{ir::DType::float64, true,
                             std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value))};
    if (PyBool_Check(value)) return eager::Scalar{ir::DType::boolean, true, value == Py_True};
    int overflow = 0;
    const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
    if (overflow != 0) return {};
    return eager::Scalar{ir::DType::int64, true, static_cast<uint64_t>(integer)};
}

Ref<Deferred> applied_to_literal(const ir::scalar::RowRef& row, PyObject* x, PyObject* literal,
                                 bool literal_is_first) {
    const std::optional<eager::Scalar> number = literal_from(literal);
    if (!number) return {};
    Ref<Deferred> known = known_number_from(x);
    if (!known) return {};
    eager::shorten_history();
    return Deferred::applied_to_literal(row, std::move(known), *number, literal_is_first);
}

Ref<Deferred> applied_to_both(const ir::scalar::RowRef& row, PyObject* a, PyObject* b) {
    Ref<Deferred> x = known_number_from(a);
    if (!x) return {};
    Ref<Deferred> y = b ? known_number_from(b) : Ref<Deferred>();
    if (b && !y) return {};
    eager::shorten_history();
    return Deferred::applied(row, std::move(x), std::move(y));
}

}  // namespace

bool is_literal(PyObject* value) {
    return PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value);
}

const LazyTensor* known_scalar(PyObject* value) {
    if (!is_scalar(value) || !nb::inst_ready(value)) return nullptr;
    const auto* const scalar = nb::inst_ptr<LazyTensor>(value);
    return scalar->known_number() ? scalar : nullptr;
}

Ref<Deferred> known_number_from(PyObject* value) {
    if (is_literal(value)) {
        const std::optional<eager::Scalar> number = literal_from(value);
        return number ? Deferred::literal(*number) : Ref<Deferred>();
    }
    if (const LazyTensor* const scalar = known_scalar(value)) return scalar->number();
    const LazyTensor* const scalar = scalar_from(value);
    return scalar             ? scalar->number()
           : is_tensor(value) ? Ref<Deferred>()
                              : numpy_number_from(value);
}

PyObject* applied_to_numbers(const ir::scalar::RowRef& row, PyObject* a, PyObject* b) {
    Ref<Deferred> result = b && is_literal(a)   ? applied_to_literal(row, b, a, true)
                           : b && is_literal(b) ? applied_to_literal(row, a, b, false)
                                                : applied_to_both(row, a, b);
    return result ? wrap_number(std::move(result)).release().ptr() : nullptr;
}

std::optional<eager::SmallArray> small_array_of(const ir::scalar::RowRef& row, PyObject* a,
                                                PyObject* b) {
    std::vector<eager::SmallOperand> operands;
    for (PyObject* value : {a, b}) {
        if (!value) continue;
        std::optional<eager::SmallOperand> operand = small_from(value);
        if (!operand) return {};
        operands.push_back(std::move(*operand));
    }
    eager::shorten_history();
    return eager::applied_to_small(row, operands);
}

PyObject* applied_to_small_arrays(const ir::scalar::RowRef& row, PyObject* a, PyObject* b) {
    return wrapped(small_array_of(row, a, b));
}

PyObject* stacked_numbers(PyObject* items) {
    if (!PyList_CheckExact(items) && !PyTuple_CheckExact(items)) return nullptr;
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(items);
    if (count > eager::most_small_elements) return nullptr;
    PyObject** const first = PySequence_Fast_ITEMS(items);
    if (std::none_of(first, first + count, [](PyObject* item) { return is_tensor(item); }))
        return nullptr;
    std::vector<Ref<Deferred>> numbers;
    for (Py_ssize_t i = 0; i < count; ++i) {
        Ref<Deferred> number = known_number_from(first[i]);
        if (!number) return nullptr;
        numbers.push_back(std::move(number));
    }
    return wrapped(eager::stacked(std::move(numbers)));
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
