// Blocks of as many rows as a vector has lanes, turned into vectors: four columns of 4 bytes or two
// of 8 at once.
#pragma once

#include "composit/backends/c_family/prelude/vector.h"

// 0, 1, …, n - 1.
template <int... N>
struct Numbers {};
template <int n, int... N>
struct NumbersBelowOf : NumbersBelowOf<n - 1, n - 1, N...> {};
template <int... N>
struct NumbersBelowOf<0, N...> {
    typedef Numbers<N...> type;
};
template <int n>
using NumbersBelow = typename NumbersBelowOf<n>::type;

template <class T>
constexpr int tall_columns = 16 / static_cast<int>(sizeof(T));

// Words of 4 or 8 bytes, of `bytes` bytes in all.
template <class T, int bytes>
struct WordsOf {
    typedef uint32_t type __attribute__((vector_size(bytes)));
};
template <class T, int bytes>
    requires(sizeof(T) == 8)
struct WordsOf<T, bytes> {
    typedef uint64_t type __attribute__((vector_size(bytes)));
};
template <class T, int bytes>
using Words = typename WordsOf<T, bytes>::type;

template <class V, int... N>
COMPOSIT_INLINE auto side_by_side(const V& a, const V& b, Numbers<N...>) {
    return __builtin_shufflevector(a, b, N...);
}

// The first elements of so many rows, 16 bytes of each, side by side.
template <class T, int bytes>
COMPOSIT_INLINE Words<T, bytes> load_pieces(const T* from, const int64_t* rows) {
    if constexpr (bytes == 16) {
        Words<T, 16> piece;
        __builtin_memcpy(&piece, from + rows[0], 16);
        return piece;
    } else {
        constexpr int half = bytes / 2, rows_between = bytes / 32 * tall_columns<T>;
        return side_by_side(load_pieces<T, half>(from, rows),
                            load_pieces<T, half>(from, rows + rows_between),
                            NumbersBelow<bytes / static_cast<int>(sizeof(T))>{});
    }
}

// a and b in turns, of the lower or the upper half of each 16 bytes.
template <class T, bool is_upper, class V, int... N>
COMPOSIT_INLINE V in_turns(const V& a, const V& b, Numbers<N...>) {
    constexpr int n = sizeof...(N), piece = tall_columns<T>;
    return __builtin_shufflevector(
        a, b, (N / piece * piece + N % piece / 2 + (is_upper ? piece / 2 : 0) + (N % 2) * n)...);
}
template <class T, bool is_upper, class V>
COMPOSIT_INLINE V in_turns(const V& a, const V& b) {
    return in_turns<T, is_upper>(a, b, NumbersBelow<vector_lanes<T>>{});
}

// columns[k][i] = from[rows[i] + k] for i < vector_lanes<T> and k < K * tall_columns<T>. Lines
// of the cache are read whole where K times 16 bytes are: those of other rows may take their
// places.
template <int K, class T>
COMPOSIT_INLINE void load_tall(const T* from, const int64_t* rows,
                               Vector<T> (&columns)[K * tall_columns<T>]) {
    typedef Words<T, vector_bytes> W;
    constexpr int n = tall_columns<T>;
    W pieces[K][n];
    repeat<n>([&](int i) COMPOSIT_STEP {
        repeat<K>([&](int g) COMPOSIT_STEP {
            pieces[g][i] = load_pieces<T, vector_bytes>(from + g * n, rows + i);
        });
    });
    repeat<K>([&](int g) COMPOSIT_STEP {
        Vector<T>* const to = columns + g * n;
        const W(&p)[n] = pieces[g];
        if constexpr (n == 4) {
            const W low_ac = in_turns<T, false>(p[0], p[2]),
                    high_ac = in_turns<T, true>(p[0], p[2]);
            const W low_bd = in_turns<T, false>(p[1], p[3]),
                    high_bd = in_turns<T, true>(p[1], p[3]);
            to[0] = reinterpret_cast<Vector<T>>(in_turns<T, false>(low_ac, low_bd));
            to[1] = reinterpret_cast<Vector<T>>(in_turns<T, true>(low_ac, low_bd));
            to[2] = reinterpret_cast<Vector<T>>(in_turns<T, false>(high_ac, high_bd));
            to[3] = reinterpret_cast<Vector<T>>(in_turns<T, true>(high_ac, high_bd));
        } else {
            to[0] = reinterpret_cast<Vector<T>>(in_turns<T, false>(p[0], p[1]));
            to[1] = reinterpret_cast<Vector<T>>(in_turns<T, true>(p[0], p[1]));
        }
    });
}
