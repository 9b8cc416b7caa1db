// Objects of cells, and the table of live LazyTensor objects.
#include "cell.h"

#include "at_once.h"
#include "composit/eager/pieces.h"
#include "composit/eager/small.h"
#include "composit/execute/devices.h"
#include "content.h"
#include "interpreter_lock.h"
#include "live.h"
#include "location.h"

#include <algorithm>

namespace composit::python {
namespace {

// Entries are hints: wrap() checks that they still hold.
LiveObjects& live() {
    static auto* objects = new LiveObjects;
    return *objects;
}

PyObject* type_of_tensors = nullptr;  // lives as long as the interpreter

nb::object make_object(Ref<Cell> cell) {
    nb::object object = nb::inst_alloc(tensor_type());
    auto* content = new (nb::inst_ptr<LazyTensor>(object)) LazyTensor(std::move(cell));
    content->self = object.ptr();
    nb::inst_set_state(object, true, true);
    return object;
}

// Of a cell or a number.
template <class Held>
nb::object make_scalar(Held held) {
    nb::object object = nb::inst_alloc(scalar_type(held->type().dtype));
    auto* content = new (nb::inst_ptr<LazyScalar>(object)) LazyScalar(std::move(held));
    content->self = object.ptr();
    nb::inst_set_state(object, true, true);
    return object;
}

void enter(const nb::object& object, const Tensor& tensor) {
    auto* content = nb::inst_ptr<LazyTensor>(object);
    content->key_node = &tensor.node();
    content->key_index = tensor.output_index();
    live().enter(content);
}

nb::object wrap_as(const Tensor& tensor, bool as_scalar) {
    const LazyTensor* found = live().find(&tensor.node(), tensor.output_index());
    if (found && Py_REFCNT(found->self) > 0 && found->tensor() == tensor &&
        is_scalar(found->self) == as_scalar)
        return nb::borrow(found->self);
    constexpr int depth = 2;  // an operation, and a cast of an operand
    if (as_scalar && !tensor.node().is_open()) eager::compute_small(tensor, depth);
    find_errors_of_call(tensor);
    Ref<Cell> cell = Cell::make(tensor);
    nb::object object = as_scalar ? make_scalar(std::move(cell)) : make_object(std::move(cell));
    enter(object, tensor);
    if (eager::is_piece_due(tensor) && is_called_by_user()) {
        const Released released;
        eager::compute_piece();
    }
    return object;
}

}  // namespace

void LazyTensor::check_writeable() const {
    user_check(!is_read_only, "assignment destination is read-only");
}

void LazyTensor::replace(const Tensor& tensor) const {
    find_errors_of_call(tensor);
    cell()->replace(execute::written_beside(tensor, this->tensor()));
}

void set_tensor_type(nb::handle type) {
    type_of_tensors = type.ptr();
    Deferred::when_made([](const Deferred& number) {
        auto* const owner = static_cast<LazyTensor*>(number.owner());
        if (!PyGILState_Check() || owner->key_node) return;
        owner->key_node = &number.tensor().node();
        owner->key_index = number.tensor().output_index();
        live().enter(owner);
    });
}
nb::handle tensor_type() { return type_of_tensors; }

void LazyTensor::set_cell(Ref<Cell> cell) {
    if (number_) number_->set_owner(nullptr);
    number_ = {};
    cell_ = std::move(cell);
}

void LazyTensor::let_go() {
    if (key_node) live().remove(this);
    key_node = nullptr;
    set_cell({});
}

LazyTensor::~LazyTensor() {
    if (number_) number_->set_owner(nullptr);
    if (key_node) live().remove(this);
}

const LazyTensor& self_of(nb::handle object) {
    user_check<TypeError>(is_tensor(object), "an object of class ", Py_TYPE(object.ptr())->tp_name,
                          " is given. A LazyTensor is required.");
    return content_of<LazyTensor>(object);
}

nb::object wrap(const Tensor& tensor) { return wrap_as(tensor, tensor.rank() == 0); }
nb::object wrap_elementwise(const Tensor& tensor, PyObject* const* operands, size_t count) {
    const auto has_own_order = [](PyObject* operand) {
        if (!is_tensor(operand)) return false;
        const auto& held = content_of<LazyTensor>(operand);
        const ir::Shape& shape = held.type().shape;
        return shape.size() > 1 && !eager::is_row_major(shape, held.cell()->strides());
    };
    if (tensor.rank() < 2 || std::none_of(operands, operands + count, has_own_order))
        return wrap(tensor);
    std::vector<eager::Laid> laid;
    for (size_t i = 0; i < count; ++i) {
        if (!is_tensor(operands[i])) continue;
        const Cell& cell = *content_of<LazyTensor>(operands[i]).cell();
        laid.push_back({cell.tensor().shape(), cell.strides()});
    }
    eager::Strides strides = eager::elementwise_strides(tensor.shape(), laid);
    if (eager::is_row_major(tensor.shape(), strides)) return wrap(tensor);
    find_errors_of_call(tensor);
    return make_object(Cell::make(tensor, std::move(strides)));
}
nb::object wrap_array(const Tensor& tensor) { return wrap_as(tensor, false); }
nb::object wrap_element(const Tensor& tensor) {
    nb::object object = wrap(tensor);
    const bool is_new = Py_REFCNT(object.ptr()) == 1;  // no hash changes while its object lives
    if (is_new) nb::inst_ptr<LazyScalar>(object)->is_element = true;
    return object;
}

nb::object wrap_number(Ref<Deferred> number, bool is_element) {
    nb::object object = make_scalar(std::move(number));
    nb::inst_ptr<LazyScalar>(object)->is_element = is_element;
    return object;
}

nb::object wrap_copy(const Tensor& tensor, bool by_columns) {
    find_errors_of_call(tensor);
    if (!by_columns) return make_object(Cell::make(tensor));
    eager::Strides strides;
    int64_t step = 1;
    for (const int64_t length : tensor.shape()) {
        strides.push_back(step);
        step *= std::max<int64_t>(length, 1);
    }
    return make_object(Cell::make(tensor, std::move(strides)));
}

nb::object wrap_view(const Tensor& tensor, const LazyTensor& parent) {
    if (is_scalar(parent.self)) return wrap(tensor);
    const Tensor& from = parent.tensor();
    if (!eager::is_layout_path(from, tensor)) return wrap(tensor);
    Ref<Cell> view = Cell::make_view(tensor, parent.cell());
    if (!view) return wrap_copy(tensor);
    nb::object object = make_object(std::move(view));
    nb::inst_ptr<LazyTensor>(object)->is_read_only = parent.is_read_only;
    if (!(tensor == from)) enter(object, tensor);
    return object;
}

nb::object wrap_known_view(numpy::BasicPart part, const LazyTensor& parent) {
    Ref<Cell> view = Cell::make_view(std::move(part), parent.cell());
    if (!view) return {};
    nb::object object = make_object(std::move(view));
    nb::inst_ptr<LazyTensor>(object)->is_read_only = parent.is_read_only;
    return object;
}

nb::object wrap_root(const LazyTensor& view) {
    if (!view.cell()->is_view()) return nb::none();
    const Ref<Cell> root(view.cell()->root());
    const Tensor& tensor = root->tensor();
    const LazyTensor* found = live().find(&tensor.node(), tensor.output_index());
    if (found && Py_REFCNT(found->self) > 0 && found->cell() == root)
        return nb::borrow(found->self);
    return make_object(root);
}

nb::object wrap_cell(Ref<Cell> cell) { return make_object(std::move(cell)); }

nb::object wrap_appearance(Appearance appearance, const LazyTensor& source,
                           std::optional<eager::Region> region) {
    if (is_scalar(source.self)) return wrap(appearance.seen(source.tensor()));
    nb::object object =
        make_object(Cell::make_appearance(std::move(appearance), source.cell(), std::move(region)));
    nb::inst_ptr<LazyTensor>(object)->is_read_only = source.is_read_only;
    return object;
}

nb::object wrap_selection(std::function<Tensor(const Tensor&)> function, const LazyTensor& source,
                          bool is_read_only, std::optional<eager::Region> region) {
    nb::object object =
        wrap_appearance(eager::selection(std::move(function)), source, std::move(region));
    if (is_read_only && !is_scalar(object)) nb::inst_ptr<LazyTensor>(object)->is_read_only = true;
    return object;
}

}  // namespace composit::python
