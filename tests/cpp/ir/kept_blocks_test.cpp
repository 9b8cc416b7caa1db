// Large blocks are used again, and few of them are kept.
#include "composit/ir/kept_blocks.h"

#include "composit/ir/array.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace composit::ir {
namespace {

constexpr size_t large = size_t{8} << 20;

void* block_of(size_t bytes) {
    void* const block = new_block(bytes, 64);
    EXPECT_NE(block, nullptr);
    return block;
}

// Whether a block of `bytes` was kept. It is given back.
bool has_kept(size_t bytes) {
    void* const block = take_kept_block(bytes, 64);
    if (block != nullptr) free_block(block, bytes);
    return block != nullptr;
}

void free_all_kept() {
    for (size_t bytes = least_kept_block; bytes <= most_kept_bytes; bytes += bytes / 16)
        while (has_kept(bytes)) {
        }
}

TEST(KeptBlocks, AnArrayTakesTheMemoryOfOneThatWasFreed) {
    free_all_kept();
    const void* const first = allocate_aligned(large).get();
    EXPECT_EQ(allocate_aligned(large).get(), first);
    EXPECT_EQ(allocate_aligned(large - large / 16).get(), first);
}

TEST(KeptBlocks, SmallerOnesLeaveALargeBlockAlone) {
    free_all_kept();
    keep_block(block_of(large), large);
    EXPECT_FALSE(has_kept(large / 2));
    EXPECT_FALSE(has_kept(large + 64));
    EXPECT_TRUE(has_kept(large));
}

TEST(KeptBlocks, TheOldestAreFreed) {
    free_all_kept();
    const size_t old = 2 * large;
    keep_block(block_of(old), old);
    for (size_t bytes = 0; bytes < most_kept_bytes; bytes += large)
        keep_block(block_of(large), large);
    EXPECT_FALSE(has_kept(old));
    size_t count = 0;
    while (has_kept(large)) ++count;
    EXPECT_EQ(count, most_kept_bytes / large);
}

TEST(KeptBlocks, NeitherSmallNorHugeOnesAreKept) {
    free_all_kept();
    keep_block(block_of(4096), 4096);
    keep_block(block_of(2 * most_kept_bytes), 2 * most_kept_bytes);
    EXPECT_FALSE(has_kept(4096));
    EXPECT_FALSE(has_kept(2 * most_kept_bytes));
}

}  // namespace
}  // namespace composit::ir
