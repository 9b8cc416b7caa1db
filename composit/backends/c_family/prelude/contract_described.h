// What a contraction is, the sizes of its blocks and tiles, and what becomes of its sums.
#pragma once

#include "composit/backends/c_family/prelude/offsets.h"

constexpr int64_t contract_depth =
    256;  // part of the meaning: one fma chain each, results added in order

// 12 rows of two vectors fill 32 registers, 6 rows fill 16.
constexpr int tile_rows = vector_bytes == 64 ? 12 : vector_bytes == 32 ? 6 : 4;
template <class T>
constexpr int tile_columns = 2 * vector_lanes<T>;

// The rows of the next tile when `left` remain; it may have more, filled up with what is of no
// account. Tiles of 4 rows keep the processor busy less well, smaller ones wait for their own
// results; so 13 to 16 rows are two tiles of 8 where there are such, and 7 or 8 rows two of 4 where
// there are not. Not in operands packed as a whole: parts of them end anywhere between tiles.
constexpr int next_tile_rows(int64_t left, bool is_whole) {
    if (left == 1) return 1;
    if (left <= 4) return 4;
    if (tile_rows > 8) return left <= 8 || (!is_whole && left > tile_rows && left <= 16) ? 8 : 12;
    return left <= 8 && left > tile_rows && !is_whole ? 4 : tile_rows;
}

// The rows, or columns, of the next panel of a whole operand, for Contraction's left_is_packed and
// right_is_packed: panels like those above, each over the whole depth, one after the other.
template <class T>
inline int64_t panel_width(bool is_left, int64_t remaining) {
    return is_left ? next_tile_rows(remaining, true) : tile_columns<T>;
}

// A whole operand, and where its panels go: across are its rows, or columns.
template <class T>
struct Packing {
    const T* from;
    T* to;
    Loops across, depth;
    const int64_t *across_strides, *depth_strides;
};

// So many rows, or columns, are whole panels of any CPU.
constexpr int64_t packed_together = 96;

// What becomes of finished sums: `run` is given a few of them, sums[i * tile_columns + j] for
// i < rows, j < columns, and what number the first one is in the output's batch, rows and columns.
// It stores the results, the first of them where the contraction's output is.
template <class T>
struct Finish {
    void (*run)(const void* const* operands, const T* sums, int64_t b, int64_t row, int64_t rows,
                int64_t column, int64_t columns);
    const void* const* operands;
    int64_t fetched;  // bytes from an element of the output to one that its result is made of, or 0
};

template <class T>
struct Contraction {
    const T* left;
    const T* right;
    T* output;
    Loops batch, rows, columns, depth;
    const int64_t *left_batch, *left_rows, *left_depth;  // strides, one per loop
    const int64_t *right_batch, *right_depth, *right_columns;
    const int64_t *output_batch, *output_rows, *output_columns;
    // Of operands that lie in panels of panel_width, without batch loops.
    bool left_is_packed = false, right_is_packed = false;
    const Finish<T>* finish = nullptr;
};

// How many rows a tile has, as a type.
template <int R>
struct RowsTogether {
    static constexpr int rows = R;
};

// A part of the output: half-open ranges of flattened indices.
struct ContractPart {
    int64_t batch_begin, batch_end, row_begin, row_end, column_begin, column_end;
};

// Processors with vectors of 64 bytes have an L2 cache of 1 MB or more.
constexpr int64_t contract_row_block = vector_bytes == 64 ? 288 : 144;
// The columns' panels stay in the L2 cache beside blocks of rows; where they are this few, smaller
// blocks of a left operand that is fetched ahead leave more of it to others.
constexpr int64_t few_columns = 256, row_block_of_few_columns = 144;
constexpr int64_t contract_column_block = vector_bytes == 64 ? 2048 : 1024;
// Panels that are packed on the way are fetched ahead from the L2 or L3 cache for the next block of
// rows. With more columns the left operand's panels would be packed less often, but the results
// leave the L3 cache before the next block of depth adds to them.
constexpr int64_t column_block_to_pack = 1024;
constexpr int64_t panels_at_a_time = 4;
// Generated code takes products of up to 144 rows or 1024 columns to be one block, and leaves out
// tiles that none of these has.
static_assert(contract_row_block >= 144 && row_block_of_few_columns >= 144 &&
              contract_column_block >= 1024 && column_block_to_pack >= 1024);

// Elements of scratch memory (aligned to 64 bytes) that `contract` needs, whatever the sizes.
template <class T>
constexpr int64_t contract_scratch = (contract_row_block + contract_column_block) * contract_depth;

// Of products of few columns: the addresses of a tile's rows, where these are not packed, find no
// place in registers beside 12 rows of sums.
constexpr bool packs_rows = tile_rows > 8;

// How tiles read the rows of a left operand that is not packed as a whole: as suits the number of
// columns, packed before, or where they are.
enum class LeftReading { suits, packed, direct };
