#include "composit/ir/scalar/row_memo.h"

namespace composit::ir::scalar {

void RowMemo::clear() {
    for (auto& list : lists_)
        for (const Entry* entry = list.exchange(nullptr); entry;) {
            const Entry* next = entry->next;
            delete entry;
            entry = next;
        }
    delete attributes_.exchange(nullptr);
}

uint64_t RowMemo::key_of(const DType* dtypes, size_t count) {
    constexpr size_t bits = 5, most = 64 / bits - 1;
    static_assert(dtype_count <= 1 << bits);
    if (count > most) return 0;
    uint64_t key = 1;  // in front of the first, so that counts differ
    for (size_t i = 0; i < count; ++i) key = key << bits | static_cast<uint64_t>(dtypes[i]);
    return key;
}

const Specialisation* RowMemo::find(uint64_t key) const {
    for (const Entry* entry = lists_[key % list_count].load(std::memory_order_acquire); entry;
         entry = entry->next)
        if (entry->key == key) return entry->specialisation;
    return nullptr;
}

void RowMemo::keep(uint64_t key, const Specialisation& specialisation) const {
    if (key == 0 || find(key)) return;  // two threads may keep the same twice: no harm
    std::atomic<const Entry*>& list = lists_[key % list_count];
    auto* entry = new Entry{key, &specialisation, list.load(std::memory_order_relaxed)};
    while (!list.compare_exchange_weak(entry->next, entry, std::memory_order_release,
                                       std::memory_order_relaxed)) {
    }
}

const std::shared_ptr<const HashedAttributes>& RowMemo::keep(
    std::shared_ptr<const HashedAttributes> attributes) const {
    const std::shared_ptr<const HashedAttributes>* none = nullptr;
    auto* kept = new const std::shared_ptr<const HashedAttributes>(std::move(attributes));
    if (attributes_.compare_exchange_strong(none, kept)) return *kept;
    delete kept;  // another thread was faster
    return *none;
}

}  // namespace composit::ir::scalar
