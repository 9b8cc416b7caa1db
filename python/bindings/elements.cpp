// Elements of tensors by integers, one by one: x[i, j], x[i, j] = y, and iteration. What the
// methods of class LazyTensor do for any index, these do without nodes where values are known.
#include "elements.h"

#include "arguments.h"
#include "bindings.h"
#include "calls_at_once.h"
#include "composit/eager/history.h"
#include "composit/eager/overwriting.h"
#include "composit/eager/pending.h"
#include "composit/eager/small.h"
#include "composit/numpy/index_plan.h"
#include "composit/ops/ops.h"
#include "content.h"
#include "instances.h"
#include "interpreter_lock.h"
#include "location.h"
#include "numbers.h"

#include <algorithm>
#include <utility>

namespace composit::python {
namespace {

// The place of an element in row-major order, by an integer for each axis; negative for any other
// key.
int64_t place_from(PyObject* key, const ir::Shape& shape) {
    const bool is_tuple = PyTuple_CheckExact(key);
    const auto count = is_tuple ? static_cast<size_t>(PyTuple_GET_SIZE(key)) : 1;
    if (count != shape.size() || count == 0) return -1;
    int64_t place = 0;
    for (size_t d = 0; d < count; ++d) {
        PyObject* const item = is_tuple ? PyTuple_GET_ITEM(key, static_cast<Py_ssize_t>(d)) : key;
        if (!PyLong_CheckExact(item)) return -1;
        int overflow = 0;
        int64_t index = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (index < 0) index += shape[d];
        if (overflow != 0 || index < 0 || index >= shape[d]) return -1;
        place = place * shape[d] + index;
    }
    return place;
}

// Computes what a cell holds where programs ask for many of its elements one by one.
bool is_looked_at(const eager::Cell& cell) {
    if (!cell.is_asked_often()) return false;
    const Tensor tensor = cell.root()->tensor();
    const Released released;
    eager::try_look(tensor);
    return true;
}

// Computes a scalar that is written into a known array: the write would compute the array else, and
// what the program makes of the scalar afterwards would have to be computed again.
bool is_looked_at(PyObject* value, const eager::Cell& target) {
    if (!is_scalar(value) || !target.seen()) return false;
    const auto& scalar = content_of<LazyTensor>(value);
    if (!eager::can_be_deferred(scalar.type().dtype)) return false;
    const Tensor tensor = scalar.tensor();
    if (!eager::may_be_looked_at(tensor)) return false;
    const Released released;
    eager::try_look(tensor);
    return true;
}

// An element of a known array, or null.
PyObject* element_of(const LazyTensor& tensor, int64_t place) {
    if (tensor.known_number()) return nullptr;
    const eager::Cell& cell = *tensor.cell();
    Ref<Deferred> found = cell.element(place);
    if (!found && is_looked_at(cell)) found = cell.element(place);
    return found ? wrap_number(std::move(found), true).release().ptr() : nullptr;
}

binaryfunc item_by_method = nullptr;
objobjargproc assign_by_method = nullptr;

PyObject* get_item(PyObject* self, PyObject* key) {
    try {
        const auto& tensor = content_of<LazyTensor>(self);
        const int64_t place = place_from(key, tensor.type().shape);
        if (place >= 0) {
            const Entered entered;
            const Located located;
            eager::shorten_history();
            if (PyObject* const found = element_of(tensor, place)) return found;
        }
    } catch (...) {
        set_python_error();
        return nullptr;
    }
    return item_by_method(self, key);
}

int set_item(PyObject* self, PyObject* key, PyObject* value) {
    try {
        const auto& tensor = content_of<LazyTensor>(self);
        const int64_t place = value ? place_from(key, tensor.type().shape) : -1;
        if (place >= 0 && !tensor.is_read_only) {
            const Entered entered;
            const Located located;
            eager::shorten_history();
            const eager::Cell& cell = *tensor.cell();
            Ref<Deferred> number = known_number_from(value);
            if (!number && is_looked_at(value, cell)) number = known_number_from(value);
            if (number && eager::write_element(cell, place, number)) return 0;
            if (number && is_looked_at(cell) && eager::write_element(cell, place, number)) return 0;
        } else if (value && place < 0) {
            const Entered entered;
            if (assigned_at_once(self, key, value)) return 0;
        }
    } catch (...) {
        set_python_error();
        return -1;
    }
    return assign_by_method(self, key, value);
}

// Goes through the first axis of what the tensor holds when it is asked. The line is that of the
// loop.
struct Elements {
    nb::object tensor;
    ir::Interned line = user_location();
    const ir::ErrorHandling* error_handling = current_error_handling();
    int64_t next = 0;
};

// x[place], of a known array of several dimensions.
nb::object row_of(const LazyTensor& tensor, int64_t place) {
    const ir::Shape& shape = tensor.type().shape;
    if (ir::element_count(shape) == 0) return {};
    numpy::BasicPart row{std::vector<int64_t>(shape.size(), 0), shape,
                         std::vector<int64_t>(shape.size(), 1),
                         std::vector<bool>(shape.size(), true)};
    row.starts[0] = place;
    row.lengths[0] = 1;
    row.stays[0] = false;
    return wrap_known_view(std::move(row), tensor);
}

PyObject* next_element(PyObject* iterator) {
    try {
        auto& elements = content_of<Elements>(iterator);
        const auto& self = content_of<LazyTensor>(elements.tensor);
        const ir::Shape& shape = self.type().shape;
        if (elements.next >= shape[0]) return nullptr;
        const int64_t place = elements.next++;
        make_room_for_instances();
        const ir::LocationScope located(elements.line, elements.error_handling);
        eager::shorten_history();
        if (shape.size() == 1)
            if (PyObject* const found = element_of(self, place)) return found;
        const Entered entered;
        if (shape.size() > 1)
            if (nb::object row = row_of(self, place); row.is_valid()) return row.release().ptr();
        const Tensor& tensor = self.tensor();
        if (shape.size() == 1) return wrap_element(ops::element(tensor, {place})).release().ptr();
        return wrap_view(numpy::get_item(tensor, {place}), self).release().ptr();
    } catch (...) {
        set_python_error();
        return nullptr;
    }
}

PyType_Slot slots_of_elements[] = {{Py_tp_iternext, reinterpret_cast<void*>(next_element)},
                                   {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                                   {0, nullptr}};

Elements elements_of(nb::handle self) {
    const auto& held = content_of<LazyTensor>(self);
    user_check<TypeError>(!held.type().shape.empty(), "iteration over a 0-d array");
    if (held.cell()->seen()) return Elements{nb::borrow(self)};  // without nodes
    const Tensor tensor = held.tensor();
    if (!tensor.node().is_open() && !eager::known(tensor)) {
        const Released released;
        eager::look({tensor});
    }
    return Elements{nb::borrow(self)};
}

}  // namespace

std::optional<std::vector<int64_t>> position_from(nb::handle key, const ir::Shape& shape) {
    const int64_t place = place_from(key.ptr(), shape);
    if (place < 0) return {};
    return eager::position_of(place, shape);
}

nb::object known_view(const LazyTensor& tensor, const numpy::Index& index) {
    if (tensor.known_number()) return {};
    std::optional<numpy::BasicPart> part = numpy::basic_part(tensor.type().shape, index);
    if (!part || std::find(part->stays.begin(), part->stays.end(), true) == part->stays.end())
        return {};
    // All of a tensor is the tensor's own node, as it is where its values are not known: what is
    // differentiated by either is the same.
    const bool is_whole = part->shape() == tensor.type().shape &&
                          std::ranges::all_of(part->steps, [](int64_t step) { return step == 1; });
    if (is_whole) return {};
    return wrap_known_view(std::move(*part), tensor);
}

void bind_elements(nb::module_& module) {
    auto type = nb::borrow<nb::class_<LazyTensor>>(module.attr("LazyTensor"));
    nb::class_<Elements>(module, "Elements", nb::type_slots(slots_of_elements),
                         "An iterator over the first axis of a tensor.");
    type.def("__iter__", [](nb::handle_t<LazyTensor> self) { return elements_of(self); });
    module.def(
        "stacked_numbers",
        [](nb::handle items) -> nb::object {
            const Located located;
            PyObject* const found = stacked_numbers(items.ptr());
            return found ? nb::steal(found) : nb::none();
        },
        "An array of a list of known numbers; None where it is no such list.");
    // Python asks a type's slots before its methods, which remain for who calls or overrides them.
    PyMappingMethods& slots = *reinterpret_cast<PyTypeObject*>(type.ptr())->tp_as_mapping;
    item_by_method = std::exchange(slots.mp_subscript, get_item);
    assign_by_method = std::exchange(slots.mp_ass_subscript, set_item);
}

}  // namespace composit::python
