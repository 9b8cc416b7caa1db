// Copying a tile of elements between strided places.
#pragma once

#include "composit/backends/c_family/prelude/transpose.h"

// Where a tile lies: element (r, c) at r * row + c * column.
struct TileStrides {
    int64_t row, column;
};

// Each of the elements `times` times, side by side.
template <int64_t times, class T>
inline void repeat_elements(const T* from, T* to, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < times; ++k) to[i * times + k] = from[i];
}

// Elements are moved as bytes: T only has the right size. The reading strides may be 0 or negative.
template <class T>
inline void copy_tile(const T* from, TileStrides read, T* to, TileStrides write, int64_t rows,
                      int64_t columns) {
    if (read.column == 1 && write.column == 1) {
        for (int64_t r = 0; r < rows; ++r) {
            const T* from_row = from + r * read.row;
            T* to_row = to + r * write.row;
            for (int64_t c = 0; c < columns; ++c) to_row[c] = from_row[c];
        }
    } else if (read.column == 0 && write.column == 1 && read.row == 1 && columns == 2 &&
               write.row == 2) {
        repeat_elements<2>(from, to, rows);
    } else if (read.column == 0 && write.column == 1) {
        for (int64_t r = 0; r < rows; ++r) {
            const T value = from[r * read.row];
            T* to_row = to + r * write.row;
            for (int64_t c = 0; c < columns; ++c) to_row[c] = value;
        }
    } else if (read.row == 1 && write.column == 1) {
        constexpr int64_t block = transpose_block<T>;
        const int64_t whole_rows = rows / block * block, whole_columns = columns / block * block;
        int64_t lines[block];
        for (int64_t c = 0; c < whole_columns; c += block) {
            for (int64_t i = 0; i < block; ++i) lines[i] = (c + i) * read.column;
            for (int64_t r = 0; r < whole_rows; r += block)
                transpose(from + r, lines, to + r * write.row + c, write.row);
        }
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c)
                to[r * write.row + c] = from[r + c * read.column];
    } else if (read.column == -1 && write.column == 1) {
        for (int64_t r = 0; r < rows; ++r) {
            const T* from_row = from + r * read.row;
            T* to_row = to + r * write.row;
            for (int64_t c = 0; c < columns; ++c) to_row[c] = from_row[-c];
        }
    } else {
        for (int64_t r = 0; r < rows; ++r) {
            const T* from_row = from + r * read.row;
            T* to_row = to + r * write.row;
            for (int64_t c = 0; c < columns; ++c, from_row += read.column, to_row += write.column)
                *to_row = *from_row;
        }
    }
}
