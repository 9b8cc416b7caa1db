#include "live.h"

#include "cell.h"
#include "composit/base/hash.h"

#include <utility>

namespace composit::python {

size_t LiveObjects::home_of(const ir::Node* node, int index) const {
    const auto address = reinterpret_cast<uintptr_t>(node);
    return mix(address + static_cast<uint64_t>(index)) & (slots_.size() - 1);
}

size_t LiveObjects::slot_of(const ir::Node* node, int index) const {
    size_t slot = home_of(node, index);
    while (slots_[slot] && (slots_[slot]->key_node != node || slots_[slot]->key_index != index))
        slot = (slot + 1) & (slots_.size() - 1);
    return slot;
}

LazyTensor* LiveObjects::find(const ir::Node* node, int index) const {
    return slots_[slot_of(node, index)];
}

void LiveObjects::grow() {
    std::vector<LazyTensor*> old(2 * slots_.size());  // which throws, if anything does
    std::swap(slots_, old);
    for (LazyTensor* object : old)
        if (object) slots_[slot_of(object->key_node, object->key_index)] = object;
}

void LiveObjects::enter(LazyTensor* object) {
    if (2 * (count_ + 1) > slots_.size()) grow();
    LazyTensor*& slot = slots_[slot_of(object->key_node, object->key_index)];
    if (!slot) ++count_;
    slot = object;
}

void LiveObjects::remove(const LazyTensor* object) {
    size_t hole = slot_of(object->key_node, object->key_index);
    if (slots_[hole] != object) return;
    // What stands behind moves up, unless that is in front of its home.
    const size_t mask = slots_.size() - 1;
    for (size_t next = (hole + 1) & mask; slots_[next]; next = (next + 1) & mask) {
        const size_t home = home_of(slots_[next]->key_node, slots_[next]->key_index);
        if (((next - home) & mask) < ((next - hole) & mask)) continue;
        slots_[hole] = slots_[next];
        hole = next;
    }
    slots_[hole] = nullptr;
    --count_;
}

}  // namespace composit::python
