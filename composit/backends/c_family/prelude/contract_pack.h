// Copies blocks of a contraction's operands into the order in which the register tile reads them.
#pragma once

#include "composit/backends/c_family/prelude/contract_tile.h"
#include "composit/backends/c_family/prelude/transpose.h"

// The number of rows of the next tile when `left` remain.
inline int next_tile_rows(int64_t left) {
    return left >= tile_rows ? tile_rows : left >= 4 ? 4 : left >= 2 ? 2 : 1;
}

// Groups of `run` elements that lie side by side wherever the group starts: rows of an image.
template <int run, class T>
inline void pack_runs(const T* from, const int64_t* across, int64_t width, const int64_t* along,
                      int64_t depth, T* to) {
    for (int64_t k = 0; k < depth; ++k, to += width) {
        const T* row = from + along[k];
        for (int64_t i = 0; i < width; i += run)
            __builtin_memcpy(to + i, row + across[i], run * sizeof(T));
    }
}

// to[k * width + i] = from[across[i] + along[k]] for i < count; zero for count <= i < width.
template <class T>
inline void pack_panel(const T* from, const int64_t* across, int64_t count, int64_t width,
                       const int64_t* along, int64_t depth, T* to) {
    if (count == width) {
        if (are_consecutive(across, count)) {
            for (int64_t k = 0; k < depth; ++k, to += width) {
                const T* row = from + across[0] + along[k];
                for (int64_t i = 0; i < width; ++i) to[i] = row[i];
            }
            return;
        }
        if (are_runs<8>(across, count)) return pack_runs<8>(from, across, width, along, depth, to);
        if (are_runs<4>(across, count)) return pack_runs<4>(from, across, width, along, depth, to);
    }
    for (int64_t i = count; i < width; ++i)
        for (int64_t k = 0; k < depth; ++k) to[k * width + i] = T(0);
    constexpr int block = transpose_block<T>;
    const int64_t whole_depth = depth / block * block, whole_count = count / block * block;
    if (are_runs<block>(along, whole_depth)) {
        for (int64_t i = 0; i < whole_count; i += block)
            for (int64_t k = 0; k < whole_depth; k += block)
                transpose(from + along[k], across + i, to + k * width + i, width);
        for (int64_t i = 0; i < count; ++i)
            for (int64_t k = i < whole_count ? whole_depth : 0; k < depth; ++k)
                to[k * width + i] = from[across[i] + along[k]];
        return;
    }
    for (int64_t k = 0; k < depth; ++k, to += width)
        for (int64_t i = 0; i < count; ++i) to[i] = from[across[i] + along[k]];
}

// Panels of tile_rows rows (the last ones smaller, see next_tile_rows), one after the other.
template <class T>
inline void pack_left(const T* from, const int64_t* rows, int64_t count, const int64_t* depths,
                      int64_t depth, T* to) {
    for (int64_t i = 0; i < count;) {
        const int width = next_tile_rows(count - i);
        pack_panel(from, rows + i, width, width, depths, depth, to);
        to += width * depth;
        i += width;
    }
}

// Panels of tile_columns columns, the last one filled up with zeros.
template <class T>
inline void pack_right(const T* from, const int64_t* columns, int64_t count, const int64_t* depths,
                       int64_t depth, T* to) {
    constexpr int64_t width = tile_columns<T>;
    for (int64_t j = 0; j < count; j += width, to += width * depth)
        pack_panel(from, columns + j, count - j < width ? count - j : width, width, depths, depth,
                   to);
}

// A whole operand, for Contraction's left_is_packed: the panels of pack_left, each over the whole
// depth. Element i of `across` is a row.
template <class T>
inline void pack_whole_left(const T* from, const Loops& across, const int64_t* across_strides,
                            const Loops& depths, const int64_t* depth_strides, T* to) {
    const int64_t count = iterations(across), depth = iterations(depths);
    int64_t rows[tile_rows], along[contract_depth];
    for (int64_t i = 0; i < count;) {
        const int width = next_tile_rows(count - i);
        fill_offsets(across, across_strides, i, width, rows);
        for (int64_t k = 0; k < depth; k += contract_depth) {
            const int64_t length = depth - k < contract_depth ? depth - k : contract_depth;
            fill_offsets(depths, depth_strides, k, length, along);
            pack_panel(from, rows, width, width, along, length, to + i * depth + k * width);
        }
        i += width;
    }
}

// The same for right_is_packed and pack_right.
template <class T>
inline void pack_whole_right(const T* from, const Loops& across, const int64_t* across_strides,
                             const Loops& depths, const int64_t* depth_strides, T* to) {
    constexpr int64_t width = tile_columns<T>;
    const int64_t count = iterations(across), depth = iterations(depths);
    int64_t columns[width], along[contract_depth];
    for (int64_t j = 0; j < count; j += width) {
        const int64_t part = count - j < width ? count - j : width;
        fill_offsets(across, across_strides, j, part, columns);
        for (int64_t k = 0; k < depth; k += contract_depth) {
            const int64_t length = depth - k < contract_depth ? depth - k : contract_depth;
            fill_offsets(depths, depth_strides, k, length, along);
            pack_panel(from, columns, part, width, along, length, to + j * depth + k * width);
        }
    }
}
