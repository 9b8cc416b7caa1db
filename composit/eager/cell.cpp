// Cells and their views.
#include "composit/eager/cell.h"

#include "composit/base/error.h"
#include "composit/eager/pending.h"
#include "composit/ir/body.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"

#include <array>
#include <string_view>
#include <utility>

namespace composit::eager {
namespace {

bool is_layout(const ir::Node& node) {
    static const std::array<std::string_view, 6> names = {"slice", "transpose",    "reshape",
                                                          "split", "broadcast_to", "element"};
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

}  // namespace

Cell::Cell(Tensor tensor, Ref<Cell> root, Tensor base)
    : root_(std::move(root)), base_(std::move(base)) {
    if (root_)
        tensor_ = std::move(tensor);
    else
        pending().put(*this, std::move(tensor));
}
Cell::Cell(Appearance appearance, Ref<Cell> source)
    : tensor_(appearance.seen(source->tensor())),
      base_(source->tensor()),
      source_(std::move(source)),
      appearance_(std::make_unique<const Appearance>(std::move(appearance))) {}
Cell::~Cell() { pending().remove(*this); }

Ref<Cell> Cell::make(Tensor tensor) { return Ref<Cell>(new Cell(std::move(tensor), {}, {})); }

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

void Cell::replace(Tensor tensor) const {
    if (!origin()) {
        pending().put(*this, std::move(tensor));
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

}  // namespace composit::eager
