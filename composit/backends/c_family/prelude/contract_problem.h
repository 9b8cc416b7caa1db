// Which ways of reading a contraction's operands are compiled.
#pragma once

#include "composit/backends/c_family/prelude/contract_narrow.h"
#include "composit/backends/c_family/prelude/contract_pack.h"

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
