// Where deferred nodes lie in memory.
#include "composit/eager/deferred.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace composit::eager {
namespace {

// Memory for deferred nodes, in blocks that stay: whoever goes through all of them goes through
// the blocks. Each thread has a list of free places of its own.
struct Slot {
    bool is_used = false;
    Slot* next_free = nullptr;
    alignas(Deferred) std::array<std::byte, sizeof(Deferred)> memory;
};

class Slots {
  public:
    static Slots& instance() {
        static auto& all = *new Slots;
        return all;
    }

    Slot* take() {
        const std::lock_guard lock(mutex_);
        if (Slot* const left = std::exchange(left_, nullptr)) return left;
        auto block = std::make_unique<Block>();
        blocks_.reserve(blocks_.size() + 1);
        for (size_t i = 0; i + 1 < block->size(); ++i) (*block)[i].next_free = &(*block)[i + 1];
        blocks_.push_back(std::move(block));
        return blocks_.back()->data();
    }

    // A list of free ones, of a thread that ends.
    void leave(Slot* first) {
        if (!first) return;
        Slot* last = first;
        while (last->next_free) last = last->next_free;
        const std::lock_guard lock(mutex_);
        last->next_free = std::exchange(left_, first);
    }

    template <class Use>
    void each_used(const Use& use) {
        const std::lock_guard lock(mutex_);
        for (const auto& block : blocks_)
            for (Slot& slot : *block)
                if (slot.is_used) use(slot);
    }

  private:
    using Block = std::array<Slot, 256>;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Block>> blocks_;
    Slot* left_ = nullptr;
};

thread_local Slot* free_slots = nullptr;
thread_local bool has_ended = false;  // objects that die later give their places to all

struct AtEnd {
    bool is_there = true;
    ~AtEnd() {
        has_ended = true;
        Slots::instance().leave(std::exchange(free_slots, nullptr));
    }
};
thread_local AtEnd at_end;

}  // namespace

void* Deferred::operator new(size_t) {
    if (!free_slots) {
        at_end.is_there = true;  // its destructor is to be called
        free_slots = Slots::instance().take();
    }
    Slot* const slot = free_slots;
    free_slots = slot->next_free;
    slot->is_used = true;
    return slot->memory.data();
}

void Deferred::operator delete(void* memory) {
    auto* const slot =
        reinterpret_cast<Slot*>(static_cast<std::byte*>(memory) - offsetof(Slot, memory));
    slot->is_used = false;
    slot->next_free = nullptr;
    if (has_ended) return Slots::instance().leave(slot);
    slot->next_free = std::exchange(free_slots, slot);
}

void Deferred::tidy() {
    std::vector<Slot*> slots;
    for (Slot* slot = free_slots; slot; slot = slot->next_free) slots.push_back(slot);
    std::sort(slots.begin(), slots.end(), std::greater<>());
    free_slots = nullptr;
    for (Slot* slot : slots) slot->next_free = std::exchange(free_slots, slot);
}

std::vector<Ref<const Deferred>> Deferred::living() {
    std::vector<Ref<const Deferred>> all;
    Slots::instance().each_used([&](Slot& slot) {
        const auto* const deferred =
            std::launder(reinterpret_cast<const Deferred*>(slot.memory.data()));
        if (deferred->retain_if_alive()) all.push_back(Ref<const Deferred>::adopt(deferred));
    });
    return all;
}

}  // namespace composit::eager
