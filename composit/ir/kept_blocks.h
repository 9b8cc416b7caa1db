// Large blocks of memory that were freed, kept for the next that are wanted.
//
// The system maps fresh memory page by page and fills it with zeros, which takes as long as a
// kernel that only reads and writes it; and each call of a compiled function wants memory for its
// results.
#pragma once

#include <cstddef>

namespace composit::ir {

// Blocks of less are the C library's business, more than that are never kept at a time.
inline constexpr size_t least_kept_block = size_t{1} << 17;
inline constexpr size_t most_kept_bytes = size_t{64} << 20;
inline constexpr size_t least_mapped_block = size_t{1} << 21;

// A kept block of at least `bytes` and at most an eighth more, aligned to `alignment`; null where
// there is none. Its size is put in place of `bytes`.
void* take_kept_block(size_t& bytes, size_t alignment);

// A block from the system, aligned to `alignment` (a power of two); null where there is none. From
// `least_mapped_block` on it is a mapping of its own, which goes back to the system when it is
// freed; within the C library's heap, the gaps between aligned blocks would stay.
void* new_block(size_t bytes, size_t alignment);

// Gives a block from new_block, of that size, back to the system.
void free_block(void* block, size_t bytes);

// Takes a block from new_block, of that size. The oldest are freed where there are too many.
void keep_block(void* block, size_t bytes);

}  // namespace composit::ir
