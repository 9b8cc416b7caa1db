// What a product's tiles fetch for the blocks and panels that come after them.
#pragma once

#include "composit/backends/c_family/prelude/contract_blocks.h"

// Whole tiles of a left operand that was packed as a whole, to be fetched in so many panels.
template <class T>
LinesAhead<T> ContractBlocks<T>::tiles_ahead(int64_t row, int64_t rows, int64_t k, int64_t depth,
                                             int64_t panels) {
    const int64_t tiles = rows / tile_rows;
    if (tiles <= 0) return {};
    for (int64_t i = 0; i < tiles; ++i) tile_starts_[i] = i * tile_rows * whole_depth_;
    return {left_ + row * whole_depth_ + k * tile_rows, tile_starts_, tiles,
            depth * tile_rows * size, panels * tiles_of_panel() * steps_of_tile};
}

// The block of the left operand that is read after this one: of one that was packed as a whole
// its tiles; of any other its rows, or, if rows are neighbours, its depth positions.
template <class T>
LinesAhead<T> ContractBlocks<T>::next_left(const ContractPart& part, int64_t row, int64_t k,
                                           int64_t panels) {
    if (row >= part.row_end) row = part.row_begin, k += contract_depth;
    if (k >= whole_depth_ || panels == 0) return {};
    const int64_t rows = least(part.row_end - row, row_block_);
    const int64_t depth = least(whole_depth_ - k, contract_depth);
    if (c_.left_is_packed) return tiles_ahead(row, rows, k, depth, panels);
    const int64_t steps = panels * tiles_of_panel() * steps_of_tile;
    const T* const at = left_ + offset_of(c_.depth, c_.left_depth, k);
    next_rows_.move(c_.rows, c_.left_rows, row, rows);
    if (are_consecutive(left_depth_.offsets, depth))
        return {at, next_rows_.offsets, rows, depth * size, steps};
    if (are_consecutive(next_rows_.offsets, rows))
        return {at + next_rows_.offsets[0] - left_depth_.offsets[0], left_depth_.offsets, depth,
                rows * size, steps};
    return {};
}

// Those panels of the right operand that are packed next, if rows of several of them lie side
// by side in memory; panels from column j on were packed just now.
template <class T>
void ContractBlocks<T>::fetch_next_panels(int64_t j) {
    constexpr int64_t width = tile_columns<T>;
    const int64_t panels = (packed_end_ - j) / width;
    ahead_.right = {};
    if (panels > 0 && right_depth_.count > 0 && are_best_together(packed_end_))
        ahead_.right = {right_ + right_columns_.offsets[packed_end_], right_depth_.offsets,
                        right_depth_.count, panels_at_a_time * width * size,
                        panels * tiles_of_panel() * steps_of_tile};
}
// The packed panel that comes after that of column j, unless it is packed in this row block.
template <class T>
void ContractBlocks<T>::fetch_next_panel(int64_t j, int64_t depth) {
    static constexpr int64_t start[] = {0};
    j += tile_columns<T>;
    if (is_packing_) return;
    ahead_.right = {};
    const int64_t width = j < narrow_end_ ? tile_columns<T> : wide_columns<T>;
    if (j >= direct_columns_ && j < (c_.right_is_packed ? right_columns_.count : packed_end_))
        ahead_.right = {packed_right(j, depth).at, start, 1, depth * width * size,
                        tiles_of_panel() * steps_of_tile};
}
