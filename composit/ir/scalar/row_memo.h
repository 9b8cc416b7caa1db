// What was worked out about a row of the table, kept with the row and found again without locks.
#pragma once

#include "composit/ir/dtype.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace composit::ir {
struct HashedAttributes;  // attribute.h
}

namespace composit::ir::scalar {

struct Specialisation;  // row.h

// Append-only: many threads read and add. A row that is copied or assigned to starts with nothing.
class RowMemo {
  public:
    RowMemo() = default;
    RowMemo(const RowMemo&) noexcept {}
    RowMemo& operator=(const RowMemo&) noexcept {
        clear();
        return *this;
    }
    ~RowMemo() { clear(); }

    // The dtypes of up to 11 operands as a number; 0 for more, for which nothing is kept.
    static uint64_t key_of(const DType* dtypes, size_t count);
    // What was kept for the key; null for nothing.
    const Specialisation* find(uint64_t key) const;
    void keep(uint64_t key, const Specialisation& specialisation) const;

    // The attributes of the nodes that apply the row; null until they are kept.
    const std::shared_ptr<const HashedAttributes>* attributes() const { return attributes_; }
    const std::shared_ptr<const HashedAttributes>& keep(
        std::shared_ptr<const HashedAttributes> attributes) const;

  private:
    void clear();

    struct Entry {
        uint64_t key;
        const Specialisation* specialisation;
        const Entry* next;
    };
    // Most rows are used with one to three dtypes, in lists of their own.
    static constexpr size_t list_count = 8;
    mutable std::array<std::atomic<const Entry*>, list_count> lists_{};
    mutable std::atomic<const std::shared_ptr<const HashedAttributes>*> attributes_{};
};

}  // namespace composit::ir::scalar
