// Known arrays and scalars as operands of a call, and all else by value.
#include "call_words.h"

#include "cell.h"
#include "composit/base/hash.h"
#include "composit/eager/function_at_once.h"
#include "composit/eager/small.h"
#include "content.h"
#include "numbers.h"
#include "row_function.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <string_view>
#include <utility>

namespace composit::python {
namespace {

// Of an operand in another order, which is copied.
constexpr int64_t most_elements_ordered = 512;
// Of operands whose call is compiled when it is met first.
constexpr int64_t most_small_elements = 64;

bool is_of_numpy(PyObject* type) {
    const std::string_view name = reinterpret_cast<PyTypeObject*>(type)->tp_name;
    return name.starts_with("numpy.") || type == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
           type == reinterpret_cast<PyObject*>(&PyLong_Type) ||
           type == reinterpret_cast<PyObject*>(&PyBool_Type);
}

}  // namespace

bool CallWords::are_small() const { return !has_numbers_ && elements_ <= most_small_elements; }

bool CallWords::read(PyObject* const* values, size_t count, PyObject* names) {
    for (size_t i = 0; i < count; ++i)
        if (!add(values[i])) return false;
    const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
    for (Py_ssize_t i = 0; i < named; ++i) {
        PyObject* const name = PyTuple_GET_ITEM(names, i);
        PyObject* const value = values[count + static_cast<size_t>(i)];
        const bool is_written =
            value != Py_None && PyUnicode_CompareWithASCIIString(name, "out") == 0;
        if (is_written || !word(Tag::name) || !add(name) || !add(value)) return false;
    }
    return !operands_.empty();
}

uint64_t CallWords::hash() const {
    uint64_t h = count_;
    for (const uint64_t each : words()) h = hash_combine(h, each);
    return h;
}

bool CallWords::add(PyObject* value) {
    if (value == Py_None) return word(Tag::none);
    if (Py_TYPE(value) == reinterpret_cast<PyTypeObject*>(tensor_type().ptr()))
        return add_array(value);
    has_numbers_ |= PyLong_CheckExact(value) || PyFloat_CheckExact(value);
    if (PyBool_Check(value)) return word(Tag::boolean) && word(value == Py_True);
    if (PyLong_CheckExact(value)) return add_integer(value);
    if (PyFloat_CheckExact(value))
        return word(Tag::floating) && word(std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value)));
    if (PyUnicode_CheckExact(value)) return add_text(value);
    if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) return add_items(value);
    if (PySlice_Check(value)) return add_slice(value);
    if (value == Py_Ellipsis) return word(Tag::ellipsis);
    // Types live as long as the process, where they are those of dtypes.
    if (PyType_Check(value))
        return is_of_numpy(value) && word(Tag::type) && word(reinterpret_cast<uintptr_t>(value));
    // So do the table's rows, which ufuncs are of, before whose operands they stand.
    if (const void* const row = table_row_of(value))
        return word(Tag::row) && word(reinterpret_cast<uintptr_t>(row));
    return add_scalar(value);
}

bool CallWords::add_integer(PyObject* value) {
    int overflow = 0;
    const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
    return overflow == 0 && word(Tag::integer) && word(static_cast<uint64_t>(integer));
}

bool CallWords::add_text(PyObject* value) {
    Py_ssize_t length = 0;
    const char* const text = PyUnicode_AsUTF8AndSize(value, &length);
    if (!text) {
        PyErr_Clear();
        return false;
    }
    const std::string_view whole(text, static_cast<size_t>(length));
    if (!word(Tag::text) || !word(whole.size())) return false;
    for (size_t at = 0; at < whole.size(); at += sizeof(uint64_t)) {
        uint64_t part = 0;
        const std::string_view here = whole.substr(at, sizeof part);
        std::copy(here.begin(), here.end(), reinterpret_cast<char*>(&part));
        if (!word(part)) return false;
    }
    return true;
}

bool CallWords::add_items(PyObject* value) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(value);
    PyObject* const* const items = PySequence_Fast_ITEMS(value);
    if (!word(PyList_CheckExact(value) ? Tag::list : Tag::tuple) ||
        !word(static_cast<uint64_t>(count)))
        return false;
    return std::all_of(items, items + count, [&](PyObject* item) { return add(item); });
}

// Bounds that are written by value: a tensor's place would be that of the traced call.
bool CallWords::add_slice(PyObject* value) {
    const auto* const slice = reinterpret_cast<const PySliceObject*>(value);
    const auto add_bound = [&](PyObject* bound) {
        return (bound == Py_None || PyLong_CheckExact(bound)) && add(bound);
    };
    return word(Tag::slice) && add_bound(slice->start) && add_bound(slice->stop) &&
           add_bound(slice->step);
}

bool CallWords::add_type(Tag tag, const ir::TensorType& type) {
    if (operands_.size() == most_operands || !word(tag) ||
        !word(static_cast<uint64_t>(type.dtype) << 32 | type.shape.size()))
        return false;
    return std::all_of(type.shape.begin(), type.shape.end(),
                       [&](int64_t length) { return word(static_cast<uint64_t>(length)); });
}

// In host memory, row-major, and of a few elements.
bool CallWords::add_array(PyObject* value) {
    if (!nb::inst_ready(value)) return false;
    const Ref<eager::Cell>& cell = nb::inst_ptr<LazyTensor>(value)->cell();
    const ir::TensorType& type = cell->type();
    const int64_t count = ir::element_count(type.shape);
    if (type.shape.empty() || type.weak || count == 0 || count > eager::most_elements_at_once)
        return false;
    const std::optional<eager::Cell::Seen> seen = cell->seen();
    if (!seen || !seen->memory || !cell->lies_on_host()) return false;
    const bool is_in_order =
        eager::is_row_major(type.shape, seen->where->strides) && cell->is_row_major();
    if (!is_in_order && (!any_order_ || count > most_elements_ordered)) return false;
    elements_ += count;
    if (!add_type(Tag::array, type)) return false;
    if (!is_in_order) {
        ir::Array copy = eager::elements_at(seen->memory, *seen->where, type.dtype, type.shape);
        const void* const memory = copy.data();
        operands_.push_back({type, memory, 0, *seen->now, std::move(copy)});
        return true;
    }
    const char* const memory =
        seen->memory + seen->where->offset * static_cast<int64_t>(ir::size_of(type.dtype));
    operands_.push_back({type, memory, 0, *seen->now});
    return true;
}

bool CallWords::add_scalar(PyObject* value) {
    const LazyTensor* const scalar = known_scalar(value);
    if (!scalar) return false;
    Ref<eager::Deferred> number = scalar->number();
    if (number->is_weak() || number->device() > ir::on_cpu ||
        !add_type(Tag::scalar, number->type()))
        return false;
    operands_.push_back({number->type(), nullptr, number->bits(), std::move(number)});
    return true;
}

}  // namespace composit::python
