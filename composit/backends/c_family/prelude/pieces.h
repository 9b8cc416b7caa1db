// Work that takes long, in pieces between which somebody may be asked whether it is to go on.
#pragma once

#include "composit/backends/c_family/prelude/asking.h"
#include "composit/backends/c_family/prelude/vector.h"

constexpr int64_t piece_length = int64_t(1) << 21;  // elements: some milliseconds

// Calls piece(begin, end) for the pieces of 0 … n; false where it was told to end.
template <class Piece>
COMPOSIT_INLINE bool in_pieces(int64_t n, GoesOn goes_on, const Piece& piece) {
    for (int64_t begin = 0; begin < n; begin += piece_length) {
        if (begin > 0 && goes_on && !goes_on()) return false;
        piece(begin, n - begin < piece_length ? n : begin + piece_length);
    }
    return true;
}

// For loops over elements in steps that divide a piece, by their counter.
COMPOSIT_INLINE bool goes_on_at(int64_t i) {
    return i == 0 || i % piece_length != 0 || !module_goes_on || module_goes_on();
}
