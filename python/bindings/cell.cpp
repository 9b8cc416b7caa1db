// Cells, their views, and the table of live LazyTensor objects.
#include "cell.h"

#include "at_once.h"
#include "composit/base/error.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"
#include "live.h"

#include <array>

namespace composit::python {
namespace {

// Entries are hints: wrap() checks that they still hold.
LiveObjects& live() {
    static auto* objects = new LiveObjects;
    return *objects;
}

bool is_layout(const ir::Node& node) {
    static const std::array<std::string_view, 5> names = {"slice", "transpose", "reshape", "split",
                                                          "broadcast_to"};
    for (std::string_view name : names)
        if (node.operation().name == name) return true;
    return false;
}

// The number of each element of `view` in `base`: numbered elements, sent through the path.
Tensor places_of(const Tensor& view, const Tensor& base) {
    const Tensor numbers = ops::reshape(ops::iota({base.size()}, 0), base.shape());
    return view == base ? numbers : ir::substitute({view}, {base}, {numbers})[0];
}

// Writing `value` where the path from `base` to `view` looks.
Tensor write_through(const Tensor& base, const Tensor& view, const Tensor& value) {
    for (const Tensor* at = &view; !(*at == base); at = &at->node().operand(0))
        user_check(at->node().operation().name != "broadcast_to",
                   "assignment destination is read-only");
    if (view == base) return value;
    const int64_t count = base.size();
    const ir::Shape line = {view.size()};
    const Tensor written =
        ops::scatter(ops::reshape(base, {count}), {ops::reshape(places_of(view, base), line)}, {0},
                     ops::reshape(value, line), false);
    return ops::reshape(written, base.shape());
}

PyObject* type_of_tensors = nullptr;  // lives as long as the interpreter

nb::object make_object(Ref<Cell> cell) {
    nb::object object = nb::inst_alloc(tensor_type());
    auto* content = new (nb::inst_ptr<LazyTensor>(object)) LazyTensor(std::move(cell));
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

}  // namespace

Ref<Cell> Cell::make_view(Tensor tensor, const Ref<Cell>& parent) {
    if (!parent->is_view()) {
        Tensor base = parent->tensor();
        return Ref<Cell>(new Cell(std::move(tensor), parent, std::move(base)));
    }
    return Ref<Cell>(new Cell(std::move(tensor), parent->root_, parent->base_));
}

Ref<Cell> Cell::make_appearance(Appearance appearance, const Ref<Cell>& source) {
    return Ref<Cell>(new Cell(std::move(appearance), source));
}

const Tensor& Cell::tensor() const {
    if (!origin()) return tensor_;
    const Tensor& now = origin()->tensor();
    if (now == base_) return tensor_;
    tensor_ = root_ ? ir::substitute({tensor_}, {base_}, {now})[0] : appearance_->seen(now);
    base_ = now;
    return tensor_;
}

void LazyTensor::replace(const Tensor& tensor) const {
    if (is_wanted_at_once(tensor)) evaluate_at_once(tensor, *this);
    cell->replace(tensor);
}

void Cell::replace(Tensor tensor) const {
    if (!origin()) {
        tensor_ = std::move(tensor);
        return;
    }
    const Tensor& view = this->tensor();
    origin()->replace(root_ ? write_through(base_, view, tensor)
                            : appearance_->source_after(base_, tensor));
}

Tensor Cell::places() const {
    const Tensor& view = tensor();
    return places_of(view, root_ ? base_ : view);
}

bool is_layout_path(const Tensor& from, const Tensor& to) {
    const Tensor* at = &to;
    while (!(*at == from)) {
        if (!is_layout(at->node())) return false;
        at = &at->node().operand(0);
    }
    return true;
}

void set_tensor_type(nb::handle type) { type_of_tensors = type.ptr(); }
nb::handle tensor_type() { return type_of_tensors; }

LazyTensor::~LazyTensor() {
    if (known_node) forget_value(*this);
    if (key_node) live().remove(this);
}

nb::object wrap(const Tensor& tensor) {
    const LazyTensor* found = live().find(&tensor.node(), tensor.output_index());
    if (found && Py_REFCNT(found->self) > 0 && found->tensor() == tensor)
        return nb::borrow(found->self);
    nb::object object = make_object(Cell::make(tensor));
    enter(object, tensor);
    if (is_wanted_at_once(tensor)) evaluate_at_once(tensor, *nb::inst_ptr<LazyTensor>(object));
    return object;
}

nb::object wrap_copy(const Tensor& tensor) { return make_object(Cell::make(tensor)); }

nb::object wrap_view(const Tensor& tensor, const LazyTensor& parent) {
    const Tensor& from = parent.tensor();
    if (!is_layout_path(from, tensor)) return wrap(tensor);
    nb::object object = make_object(Cell::make_view(tensor, parent.cell));
    if (!(tensor == from)) enter(object, tensor);
    return object;
}

nb::object wrap_root(const LazyTensor& view) {
    if (!view.cell->is_view()) return nb::none();
    const Ref<Cell> root(view.cell->root());
    const Tensor& tensor = root->tensor();
    const LazyTensor* found = live().find(&tensor.node(), tensor.output_index());
    if (found && Py_REFCNT(found->self) > 0 && found->cell == root) return nb::borrow(found->self);
    return make_object(root);
}

nb::object wrap_appearance(Appearance appearance, const LazyTensor& source) {
    return make_object(Cell::make_appearance(std::move(appearance), source.cell));
}

}  // namespace composit::python
