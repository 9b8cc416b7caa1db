// Target: facts about a place that programs run on. Back ends give one, passes read it.
//
// No pass has a number about a processor of its own, so that a back end for another one says what
// differs there. The members' first values fit processors of today with vectors of 16 to 64 bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace composit {

struct Target {
    // ----- memory, in bytes
    // About what a part of a Fused kernel should touch, to stay in the nearest cache. 0: no kernels
    // are made for this target that `lower` does not make (Fused, Pack, a Contract's finish).
    int64_t part_bytes = 0;
    // What one kernel leaves in a cache for the next: that of the second level.
    int64_t near_bytes = 0;
    // What the kernels of one part may hand on to each other and still find in that cache.
    int64_t group_bytes = 512 << 10;
    // Of each row that a part takes columns of, at least, and where there are few parts: less than
    // a few cache lines is slow to come, and rows that begin at multiples of a large power of two
    // share the same few sets of a cache.
    int64_t least_row_bytes = 256, enough_row_bytes = 512;
    // What a part that takes columns may touch.
    int64_t column_part_bytes = 1 << 20;
    // Operands of products that are smaller are packed as quickly as a packed copy is found.
    int64_t least_packed_bytes = 16 << 10;

    // ----- parts of a Fused kernel, for threads
    int64_t enough_parts = 16, few_parts = 4;

    // ----- matrix products
    // Fewer columns do not fill the vectors of a register tile; a multiple of the second number
    // fills the widest tiles.
    int64_t least_columns = 32, tile_columns = 64;
    // Multiply-adds: smaller products have loops of their own.
    int64_t least_product = 65536;
    // Products of so many rows, at most, compute a right operand of fewer bytes where they read it
    // (decode_weights). 0: no such kernels are made.
    int64_t most_decoded_rows = 0;
    // A map takes as long as a product of such a depth, if what it reads is not near.
    int64_t depth_of_map = 128;
    // Products that are cut into rows: columns or depth at most, and the rows of a block.
    int64_t most_narrow = 256, least_block_rows = 64, enough_block_rows = 128,
            most_block_rows = 256;

    // ----- elementwise loops: limits that keep their text and registers small
    size_t most_inputs = 16, most_outputs = 8, most_operations = 64;

    // The same with parts of that size, and a next cache in proportion.
    [[nodiscard]] Target with_part_bytes(int64_t bytes) const {
        Target changed = *this;
        changed.part_bytes = bytes;
        if (part_bytes > 0) changed.near_bytes = near_bytes / part_bytes * bytes;
        return changed;
    }
};

}  // namespace composit
