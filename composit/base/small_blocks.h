// Memory for the small objects that graphs are made of: nodes, the values that they keep, small
// arrays.
//
// A program that loops makes millions of them, and long afterwards most of them go at once. The C
// library would then hand out what was freed in the order in which it was freed, places all over
// memory, and each step of the loop would wait for the cache. Here blocks of one size lie in slabs
// (base/slabs.h).
#pragma once

#include <cstddef>
#include <memory>

namespace composit {

inline constexpr size_t largest_small_block = 1024;

// Of at least `bytes`, at most largest_small_block; aligned to 64 bytes where `bytes` is a positive
// multiple of 64, else to 16. std::bad_alloc where memory ends. Any thread may free it, with the
// same `bytes`.
[[nodiscard]] void* allocate_small_block(size_t bytes);
void free_small_block(void* block, size_t bytes) noexcept;

inline constexpr size_t largest_medium_block = size_t{1} << 17;

// The same for more than largest_small_block, at most largest_medium_block bytes: the elements of
// arrays, between which the C library would put what lives longer. Aligned to 64.
[[nodiscard]] void* allocate_medium_block(size_t bytes);
void free_medium_block(void* block, size_t bytes) noexcept;

// For std::allocate_shared and others.
template <class T>
struct SmallBlockAllocator {
    using value_type = T;

    SmallBlockAllocator() = default;
    template <class U>
    SmallBlockAllocator(const SmallBlockAllocator<U>&) {}  // NOLINT: the same memory

    [[nodiscard]] T* allocate(size_t count) {
        if (count * sizeof(T) > largest_small_block) return std::allocator<T>().allocate(count);
        return static_cast<T*>(allocate_small_block(count * sizeof(T)));
    }
    void deallocate(T* memory, size_t count) noexcept {
        if (count * sizeof(T) > largest_small_block)
            std::allocator<T>().deallocate(memory, count);
        else
            free_small_block(memory, count * sizeof(T));
    }
    bool operator==(const SmallBlockAllocator&) const = default;
};

}  // namespace composit
