// What a product of bytes is, and the sizes of its blocks.
#pragma once

#include "composit/backends/c_family/prelude/contract_described.h"

template <class Left, class Right>  // int8_t or uint8_t
struct ByteProduct {
    const Left* left;
    const Right* right;
    int32_t* output;
    Loops batch, rows, columns, depth;
    const int64_t *left_batch, *left_rows, *left_depth;  // strides, one per loop
    const int64_t *right_batch, *right_depth, *right_columns;
    const int64_t *output_batch, *output_rows, *output_columns;
    // Of operands that lie in panels of packed_byte_rows rows or packed_byte_columns columns, each
    // over the whole depth, in which fours along the depth follow one another.
    bool left_is_packed = false, right_is_packed = false;
    // What stores results in place of `output`; the depth is at most most_finished_bytes then.
    const Finish<int32_t>* finish = nullptr;
};
constexpr int64_t packed_byte_rows = 12, packed_byte_columns = 32;

constexpr int byte_lanes = vector_lanes<int32_t>, byte_columns = 2 * byte_lanes;
constexpr int64_t byte_depth = 1024;  // of a block, in bytes
constexpr int64_t byte_column_block = 512;
constexpr int64_t most_finished_bytes = 16384;
// Bytes of scratch memory (aligned to 64 bytes) that contract_bytes needs, whatever the sizes: for
// a block of columns and the rows of a tile.
constexpr int64_t byte_scratch = byte_depth * byte_column_block +
                                 byte_column_block / byte_columns * 64 +
                                 most_finished_bytes * (tile_rows + 2 * packed_byte_rows);
