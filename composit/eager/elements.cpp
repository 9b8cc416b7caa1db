// Elements of cells, read and written one by one (cell.h). A write leaves the node for later, and
// the values where they are.
#include "composit/eager/cell.h"
#include "composit/eager/pending.h"
#include "composit/eager/small.h"
#include "composit/eager/versions.h"

#include <cstring>
#include <utility>

namespace composit::eager {

// Whether they are there.
bool Cell::find_elements() const {
    if (elements_) return true;
    if (origin() || !can_be_deferred(tensor_.dtype()) || tensor_.type().weak) return false;
    const ir::ConstantArray value = known(tensor_);
    if (!value || tensor_.node().reads_borrowed()) return false;
    elements_ = std::make_unique<Elements>(Elements{Deferred::of(tensor_), value.row_major(), {}});
    return true;
}

Ref<Deferred> Cell::element(int64_t place) const {
    if (!find_elements()) return {};
    const ir::DType dtype = tensor_.dtype();
    const auto* const at = static_cast<const char*>(elements_->memory.get()) +
                           place * static_cast<int64_t>(ir::size_of(dtype));
    return Deferred::element(elements_->now, dtype, place, at);
}

Ref<Deferred> Cell::number() const {
    if (!type().shape.empty() || !find_elements()) return {};
    if (is_written()) return element(0);
    return elements_->now->has_number() ? elements_->now : Ref<Deferred>();
}

// Takes the values out of the node, if nobody else sees them; else copies them.
bool Cell::own_elements() const {
    if (!find_elements()) return false;
    if (is_written()) return true;
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
    if (!own) {
        const ir::ConstantArray there = known(tensor_);
        const Array copy(there.dtype(), there.shape());
        std::memcpy(copy.mutable_data(), there.row_major().get(),
                    static_cast<size_t>(there.bytes()));
        own = copy;
    }
    elements_->memory = own.row_major();
    elements_->own = std::move(own);
    return true;
}

bool Cell::write_element(int64_t place, const Ref<Deferred>& value) const {
    if (origin() || !value->has_number() || !own_elements()) return false;
    const ir::DType dtype = tensor_.dtype();
    const auto size = static_cast<int64_t>(ir::size_of(dtype));
    const Ref<Deferred> stored = Deferred::converted(value, dtype);
    // The memory is the cell's own.
    auto* const memory = static_cast<char*>(const_cast<void*>(elements_->memory.get()));
    const uint64_t bits = stored->bits();
    std::memcpy(memory + place * size, &bits, static_cast<size_t>(size));
    elements_->now = Deferred::written(std::move(elements_->now), place, stored, place_);
    return true;
}

void Cell::make_written() const {
    const std::unique_ptr<Elements> written = std::move(elements_);
    Tensor made = written->now->tensor();
    written->memory.reset();
    const ir::Node& node = made.node();
    node.count_holders(1);  // the value is no history, not even for a moment
    node.keep(made.output_index(), std::move(written->own));
    pending().put(*this, std::move(made));
    node.count_holders(-1);
}

void Cell::close_elements() const {
    if (is_written()) make_written();
    elements_.reset();
}

}  // namespace composit::eager
