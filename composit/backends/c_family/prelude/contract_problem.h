// What a contraction is, the sizes of its blocks, and which ways of reading its operands are
// compiled.
#pragma once

#include "composit/backends/c_family/prelude/contract_narrow.h"
#include "composit/backends/c_family/prelude/contract_pack.h"

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

// The same contraction with rows and columns exchanged: factors commute.
template <class T>
inline Contraction<T> transposed(const Contraction<T>& c) {
    Contraction<T> t = c;
    t.left = c.right, t.right = c.left;
    t.rows = c.columns, t.columns = c.rows;
    t.left_batch = c.right_batch, t.right_batch = c.left_batch;
    t.left_rows = c.right_columns, t.right_columns = c.left_rows;
    t.left_depth = c.right_depth, t.right_depth = c.left_depth;
    t.output_rows = c.output_columns, t.output_columns = c.output_rows;
    return t;
}

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

// Numbers of rows or columns that occur: these, or any.
template <int... counts>
struct Counts {
    template <class Test>
    static constexpr bool has([[maybe_unused]] Test test) {
        return sizeof...(counts) == 0 || (test(counts) || ...);
    }
};

// Which ways of reading the operands are compiled; the bits are the same with any of them.
// Generated code, which knows the lengths, leaves out the others, because compiling them takes
// time. `Rows` and `Columns` are how many are worked on together. `is_whole`: the left operand may
// be packed as a whole.
template <bool packs, bool reads_directly, bool reads_right_directly, class Rows = Counts<>,
          class Columns = Counts<>, bool is_whole = true>
struct Reading {
    static constexpr bool packs_left = packs, reads_left = reads_directly;
    // Whether whole panels of the right operand may be read where they are.
    template <class T>
    static constexpr bool reads_right =
        reads_right_directly && Columns::has([](int count) { return count >= tile_columns<T>; });
    static constexpr bool may_be_lone = Rows::has([](int count) { return count == 1; }) &&
                                        Columns::has([](int count) { return count == 1; });
    template <class T>
    static constexpr bool may_be_split = Columns::has([](int count) {
        const int left = count % tile_columns<T>;
        return left > 0 && left <= split_columns<T>;
    });
    template <int R>
    static constexpr bool has_tiles = Rows::has([](int count) {
        return has_tiles_of(R, count, false) || (is_whole && has_tiles_of(R, count, true));
    });
    // Whether one row may meet four panels.
    template <class T>
    static constexpr bool has_four_panels =
        has_tiles<1> && Columns::has([](int count) { return count >= 4 * tile_columns<T>; });
    // Whether the last panel may be a wide one, with or without one more column.
    template <class T, bool lone>
    static constexpr bool may_be_wide() {
        return packs && Columns::has([](int columns) {
                   const int64_t left = columns % tile_columns<T>;
                   return is_wide_end<T>(left) && lone == (left > vector_lanes<T>);
               });
    }
    // Whether a split panel may have a group of so many columns.
    template <class T, int N>
    static constexpr bool may_have_group() {
        return Columns::has([](int columns) {
            const int64_t left = narrow_part<T>(columns % tile_columns<T>);
            return (N == narrow_group && left >= narrow_group) ||
                   (left % narrow_group > 0 && narrow_columns_of(left % narrow_group) == N);
        });
    }
};
using AnyReading = Reading<true, true, true>;
// Of products of few columns: the addresses of a tile's rows, where these are not packed, find no
// place in registers beside 12 rows of sums.
constexpr bool packs_rows = tile_rows > 8;
