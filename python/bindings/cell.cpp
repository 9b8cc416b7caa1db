// Cells, their views, and the table of live LazyTensor objects.
#include "cell.h"

#include "composit/base/error.h"
#include "composit/base/hash.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"

#include <array>
#include <unordered_map>

namespace composit::python {
namespace {

struct Key {
    const ir::Node* node;
    int index;
    bool operator==(const Key&) const = default;
};
struct KeyHash {
    size_t operator()(const Key& key) const {
        return hash_combine(reinterpret_cast<uintptr_t>(key.node),
                            static_cast<uint64_t>(key.index));
    }
};

// Guarded by the interpreter's lock. Entries are hints: wrap() checks that they still hold.
std::unordered_map<Key, LazyTensor*, KeyHash>& live() {
    static auto* table = new std::unordered_map<Key, LazyTensor*, KeyHash>;
    return *table;
}

bool is_layout(const ir::Node& node) {
    static const std::array<std::string_view, 5> names = {"slice", "transpose", "reshape", "split",
                                                          "broadcast_to"};
    for (std::string_view name : names)
        if (node.operation().name == name) return true;
    return false;
}

// Writing `value` where the path from `base` to `view` looks: the positions that the path selects
// are found by sending numbered elements through it.
Tensor write_through(const Tensor& base, const Tensor& view, const Tensor& value) {
    for (const Tensor* at = &view; !(*at == base); at = &at->node().operand(0))
        user_check(at->node().operation().name != "broadcast_to",
                   "assignment destination is read-only");
    if (view == base) return value;
    const int64_t count = base.size();
    const Tensor numbers = ops::reshape(ops::iota({count}, 0), base.shape());
    const std::vector<Tensor> places = ir::substitute({view}, {base}, {numbers});
    const ir::Shape line = {view.size()};
    const Tensor written =
        ops::scatter(ops::reshape(base, {count}), {ops::reshape(places[0], line)}, {0},
                     ops::reshape(value, line), false);
    return ops::reshape(written, base.shape());
}

nb::object make_object(Ref<Cell> cell) {
    nb::object object = nb::inst_alloc(nb::type<LazyTensor>());
    auto* content = new (nb::inst_ptr<LazyTensor>(object)) LazyTensor(std::move(cell));
    content->self = object.ptr();
    nb::inst_set_state(object, true, true);
    return object;
}

void enter(const nb::object& object, const Tensor& tensor) {
    auto* content = nb::inst_ptr<LazyTensor>(object);
    content->key_node = &tensor.node();
    content->key_index = tensor.output_index();
    live()[{content->key_node, content->key_index}] = content;
}

}  // namespace

Ref<Cell> Cell::make_view(Tensor tensor, const Ref<Cell>& parent) {
    if (!parent->is_view()) {
        Tensor base = parent->tensor_;
        return Ref<Cell>(new Cell(std::move(tensor), parent, std::move(base)));
    }
    return Ref<Cell>(new Cell(std::move(tensor), parent->root_, parent->base_));
}

const Tensor& Cell::tensor() const {
    if (root_ && !(root_->tensor_ == base_)) {
        tensor_ = ir::substitute({tensor_}, {base_}, {root_->tensor_})[0];
        base_ = root_->tensor_;
    }
    return tensor_;
}

void Cell::replace(Tensor tensor) const {
    if (root_) {
        const Tensor& view = this->tensor();
        root_->tensor_ = write_through(base_, view, tensor);
    } else {
        tensor_ = std::move(tensor);
    }
}

bool is_layout_path(const Tensor& from, const Tensor& to) {
    const Tensor* at = &to;
    while (!(*at == from)) {
        if (!is_layout(at->node())) return false;
        at = &at->node().operand(0);
    }
    return true;
}

LazyTensor::~LazyTensor() {
    if (!key_node) return;
    const auto found = live().find({key_node, key_index});
    if (found != live().end() && found->second == this) live().erase(found);
}

nb::object wrap(const Tensor& tensor) {
    const auto found = live().find({&tensor.node(), tensor.output_index()});
    if (found != live().end() && Py_REFCNT(found->second->self) > 0 &&
        found->second->tensor() == tensor)
        return nb::borrow(found->second->self);
    nb::object object = make_object(Cell::make(tensor));
    enter(object, tensor);
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

}  // namespace composit::python
