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

// A kept block of at least `bytes` and at most an eighth more, aligned to `alignment`; null where
// there is none. Its size is put in place of `bytes`.
void* take_kept_block(size_t& bytes, size_t alignment);

// Takes a block from posix_memalign, of that size. The oldest are freed where there are too many.
void keep_block(void* block, size_t bytes);

}  // namespace composit::ir
