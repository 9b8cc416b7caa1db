// argmax and argmin: the position of the first extremum, or of the first NaN if there is one.
#pragma once

#include "composit/backends/c_family/prelude/reduce_columns.h"

struct First {  // which of two elements an argmax or argmin prefers, strictly
    struct Larger {
        typedef Maximum Extremum;
        template <class T>
        static COMPOSIT_INLINE bool beats(const T& a, const T& b) {
            return a > b;
        }
    };
    struct Smaller {
        typedef Minimum Extremum;
        template <class T>
        static COMPOSIT_INLINE bool beats(const T& a, const T& b) {
            return a < b;
        }
    };
};

// The elements of one reduction, in chunks of any length.
template <class Order, class T>
class RowPosition {
  public:
    void add(const T* x, int64_t n) {
        constexpr int64_t piece = 2048;
        for (int64_t i = 0; i < n && best_ == best_; i += piece) {
            if (i > 0 && i % piece_length == 0 && module_goes_on && !module_goes_on()) return;
            const int64_t count = n - i < piece ? n - i : piece;
            const T extremum = reduce_row<typename Order::Extremum>(x + i, count);
            const bool is_better = extremum != extremum || Order::beats(extremum, best_);
            if (seen_ + i > 0 && !is_better) continue;
            const int64_t place = i + first_of(x + i, count, extremum);
            best_ = x[place];
            position_ = seen_ + place;
        }
        seen_ += n;
    }
    int64_t result() const { return position_; }

  private:
    static COMPOSIT_INLINE auto is_wanted(const T* x, T extremum) {
        const Vector<T> values = load(x);
        return (values == extremum) | (values != values);
    }

    // The first element that is the extremum, or NaN; there is one.
    static int64_t first_of(const T* x, int64_t n, T extremum) {
        constexpr int lanes = vector_lanes<T>;
        constexpr int64_t group = 4 * lanes;
        int64_t i = 0;
        for (; i + group <= n; i += group) {
            auto found = is_wanted(x + i, extremum);
            for (int v = 1; v < 4; ++v) found |= is_wanted(x + i + v * lanes, extremum);
            uint64_t words[vector_bytes / 8], any = 0;
            __builtin_memcpy(words, &found, sizeof words);
            for (const uint64_t word : words) any |= word;
            if (any != 0) break;
        }
        while (x[i] != extremum && x[i] == x[i]) ++i;
        return i;
    }

    T best_ = T(0);
    int64_t position_ = 0, seen_ = 0;
};

// Up to column_strip<T> reductions side by side.
template <class Order, class T>
class ColumnPosition {
  public:
    explicit ColumnPosition(int64_t width) : width_(width) {}

    void add(const T* x, int64_t rows, int64_t stride) {
        for (int64_t r = 0; r < rows; ++r, x += stride, ++seen_) {
            for (int64_t c = 0; c < width_; ++c) {
                const bool is_first_nan = (x[c] != x[c]) & (best_[c] == best_[c]);
                const bool wins = (seen_ == 0) | Order::beats(x[c], best_[c]) | is_first_nan;
                best_[c] = wins ? x[c] : best_[c];
                position_[c] = wins ? seen_ : position_[c];
            }
        }
    }
    void result(int64_t* out) const {
        for (int64_t c = 0; c < width_; ++c) out[c] = position_[c];
    }

  private:
    int64_t width_, seen_ = 0;
    T best_[column_strip<T>] = {};
    int64_t position_[column_strip<T>] = {};
};
