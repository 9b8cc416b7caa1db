// Elements of cells, read and written one by one (cell.h). A write leaves the node for later, and
// the values where they are.
#include "composit/eager/cell.h"
#include "composit/eager/function_at_once.h"
#include "composit/eager/pending.h"
#include "composit/eager/small.h"
#include "composit/eager/strides.h"
#include "composit/eager/versions.h"
#include "composit/ir/device_names.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace composit::eager {
namespace {

constexpr int64_t most_elements_of_views = 16384;

}  // namespace

// Whether they are there.
bool Cell::find_elements() const {
    if (elements_) return true;
    if (origin() && !root_) return false;
    if (!can_be_noted(tensor_.dtype()) || tensor_.type().weak) return false;
    if (root_) return find_elements_of_root();
    const ir::ConstantArray value = known(tensor_);
    if (!value || tensor_.node().reads_borrowed()) return false;
    elements_ = std::make_unique<Elements>();
    elements_->now = Deferred::of(tensor_);
    elements_->memory = value.row_major();
    return true;
}

bool Cell::find_elements_of_root() const {
    if (root_->origin() || !root_->find_elements()) return false;
    // Values are row-major, however NumPy's array lies in memory. The path is as old as base_.
    std::optional<Region> where =
        region_through(base_, {0, ir::row_major_strides(base_.shape())}, tensor_);
    if (!where) return false;
    elements_ = std::make_unique<Elements>();
    elements_->path = Deferred::path(base_, tensor_);
    elements_->where = std::move(*where);
    return true;
}

int64_t Cell::place_in_root(int64_t place) const {
    if (!root_) return place;
    const ir::Shape& shape = type().shape;
    int64_t found = elements_->where.offset;
    for (size_t d = shape.size(); d-- > 0;) {
        found += place % shape[d] * elements_->where.strides[d];
        place /= shape[d];
    }
    return found;
}

// Whether they are there, and `now` is what is shown.
bool Cell::find_seen() const {
    if (!find_elements() || !root()->find_elements()) return false;
    const Ref<Deferred>& whole = root()->elements_->now;
    if (root_ && elements_->seen != whole) {
        elements_->seen = whole;
        // One node for what it shows, whoever asks first: elements are told to be parts of it so.
        const bool is_made = tensor_ && !root_->is_written() && base_ == root_->tensor_;
        elements_->now = is_made ? Deferred::of(tensor_) : Deferred::view(whole, elements_->path);
    }
    return true;
}

Ref<Deferred> Cell::element(int64_t place) const {
    const ir::DType dtype = type().dtype;
    if (!can_be_deferred(dtype) || !find_seen()) return {};
    const auto* const at = static_cast<const char*>(root()->elements_->memory.get()) +
                           place_in_root(place) * static_cast<int64_t>(ir::size_of(dtype));
    return Deferred::element(elements_->now, dtype, place, at);
}

bool Cell::is_asked_often() const {
    constexpr int64_t few = 8, elements_per_node = 64;
    const Cell& from = *root();
    if (from.origin() || !from.tensor_) return false;
    const int64_t size = ir::element_count(from.type().shape);
    if (++from.asked_ != std::max(few, size / elements_per_node)) return false;
    return can_be_deferred(from.type().dtype) && may_be_looked_at(from.tensor_);
}

std::optional<Cell::Seen> Cell::seen() const {
    if (!find_seen()) return {};
    Elements& elements = *elements_;
    if (!root_ && elements.where.strides.size() != type().shape.size())
        elements.where = {0, ir::row_major_strides(type().shape)};
    return Seen{&elements.now, static_cast<const char*>(root()->elements_->memory.get()),
                &elements.where};
}

bool Cell::has_node() const {
    if (!elements_) return true;
    return find_seen() && elements_->now->is_made();
}

Ref<Cell> Cell::make_known(Ref<Deferred> now, ir::ConstantArray values) {
    auto elements = std::make_unique<Elements>();
    elements->type = std::unique_ptr<const ir::TensorType>(
        new ir::TensorType{values.shape(), values.dtype(), false});
    elements->now = std::move(now);
    elements->own = std::move(values);
    elements->memory = elements->own.row_major();
    return Ref<Cell>(new Cell(std::move(elements)));
}

Ref<Cell> Cell::make_known_copy(const Cell& cell) {
    if (!cell.find_seen()) return {};
    // A node that was made keeps its value for all; a view's node has none, and a plan for few
    // elements takes longer than they do.
    const bool is_small = ir::element_count(cell.type().shape) <= most_elements_of_views;
    if (cell.elements_->now->is_made() && !(cell.root_ && is_small)) return {};
    Array values = cell.root_ ? cell.viewed_values() : copied(cell.elements_->own);
    if (!values) return {};  // they are on a device
    return make_known(cell.elements_->now, std::move(values));
}

Ref<Cell> Cell::make_view(BasicPart part, const Ref<Cell>& parent) {
    const std::optional<Seen> seen = parent->seen();
    if (!seen) return {};
    const ir::TensorType& type = parent->type();
    auto elements = std::make_unique<Elements>();
    elements->type =
        std::unique_ptr<const ir::TensorType>(new ir::TensorType{part.shape(), type.dtype, false});
    // In the root's values, which are row-major, and as NumPy's array lies in memory.
    const auto region_in = [&](const Region& whole) {
        Region found{whole.offset, {}};
        for (size_t d = 0; d < type.shape.size(); ++d) {
            found.offset += part.starts[d] * whole.strides[d];
            if (part.stays[d]) found.strides.push_back(part.steps[d] * whole.strides[d]);
        }
        return found;
    };
    elements->where = region_in(*seen->where);
    Region in_memory = region_in(parent->region());
    elements->path = Deferred::path(std::move(part), parent->elements_->path, type.dtype);
    const Ref<Cell>& root = parent->root_ ? parent->root_ : parent;
    return Ref<Cell>(new Cell(std::move(elements), root, std::move(in_memory)));
}

void Cell::replace_known(Ref<Deferred> now, ir::ConstantArray values) const {
    Versions::note(*this);
    std::unique_ptr<const ir::TensorType> type;
    if (elements_) type = std::move(elements_->type);
    elements_ = std::make_unique<Elements>();
    elements_->type = std::move(type);
    elements_->now = std::move(now);
    elements_->own = std::move(values);
    elements_->memory = elements_->own.row_major();
}

Ref<Deferred> Cell::number() const {
    if (!type().shape.empty() || !find_elements()) return {};
    if (root_ || is_written()) return element(0);
    return elements_->now->has_number() ? elements_->now : Ref<Deferred>();
}

// Takes the values out of the node, if nobody else sees them; else copies them.
bool Cell::own_elements() const {
    if (!find_elements()) return false;
    if (is_written()) {
        if (place_ == 0) Versions::note(*this);
        if (elements_->now->keeps_value()) {
            elements_->memory.reset();
            elements_->own = copied(elements_->own);
            elements_->memory = elements_->own.row_major();
        }
        return true;
    }
    const ir::Node& node = tensor_.node();
    // What was made of the old elements is computed while they are there. The cell refers to the
    // node twice.
    if (node.use_count() > 2) {
        settle();
        if (!find_elements()) return false;
    }
    Versions::note(*this);
    elements_->memory.reset();
    ir::ConstantArray own;
    if (node.holders() == 1 && node.output_count() == 1) own = node.take_kept();
    if (!own) own = copied(known(tensor_));
    elements_->memory = own.row_major();
    elements_->own = std::move(own);
    return true;
}

bool Cell::write_element(int64_t place, const Ref<Deferred>& value) const {
    if (!can_be_deferred(type().dtype) || !find_elements() || !value->has_number()) return false;
    if (root_) {
        const ir::Shape& shape = type().shape;
        for (size_t d = 0; d < shape.size(); ++d)  // elements that are seen twice
            if (elements_->where.strides[d] == 0 && shape[d] > 1) return false;
        return root_->write_element(place_in_root(place), value);
    }
    if (!own_elements() || !value->goes_with(*elements_->now)) return false;
    const ir::DType dtype = type().dtype;
    const auto size = static_cast<int64_t>(ir::size_of(dtype));
    const Ref<Deferred> stored = Deferred::converted(value, dtype);
    // The memory is the cell's own.
    auto* const memory = static_cast<char*>(const_cast<void*>(elements_->memory.get()));
    const uint64_t bits = stored->bits();
    char* const at = memory + place * size;
    elements_->now = Deferred::written(std::move(elements_->now), place, stored, at, place_);
    std::memcpy(at, &bits, static_cast<size_t>(size));
    return true;
}

ir::ConstantArray Cell::written_values() const {
    return is_written() ? elements_->own : ir::ConstantArray();
}

Array Cell::viewed_values() const {
    if (appearance_ && appearance_->is_alias) return source_->viewed_values();
    // What was written is in host memory, and has no node yet that would say so.
    if (!root_ || (!root_->is_written() && device() > ir::on_cpu)) return {};
    if (find_seen())
        return elements_at(root_->elements_->memory.get(), elements_->where, type().dtype,
                           type().shape);
    const ir::ConstantArray whole = known(root_->tensor());
    if (!whole) return {};
    const Tensor& view = tensor();
    const auto where = region_through(base_, {0, ir::row_major_strides(base_.shape())}, view);
    return where ? elements_at(whole.row_major().get(), *where, view.dtype(), view.shape())
                 : Array();
}

void Cell::make_written() const {
    Tensor made = elements_->now->tensor();
    const std::unique_ptr<Elements> written = std::move(elements_);
    written->memory.reset();
    const ir::Node& node = made.node();
    node.count_holders(1);  // the value is no history, not even for a moment
    node.keep(made.output_index(), std::move(written->own));
    pending().put(*this, std::move(made));
    node.count_holders(-1);
}

void Cell::close_elements() const {
    if (is_written()) make_written();
    if (!tensor_) tensor();  // a view that has no path yet
    elements_.reset();
}

}  // namespace composit::eager
