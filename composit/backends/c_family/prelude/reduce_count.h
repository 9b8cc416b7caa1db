// Counting what is true: sums of bool as integers, whose order does not matter.
#pragma once

#include "composit/backends/c_family/prelude/reduce_columns.h"

// The sum of bytes that are 0 or 1: vectors of bytes, for as many steps as a byte can hold.
inline uint64_t count_truths(const uint8_t* x, int64_t n) {
    constexpr int width = vector_lanes<uint8_t>, together = 4;
    constexpr int64_t step = width * together, most = 255;
    uint64_t total = 0;
    while (n >= step) {
        const int64_t steps = n / step < most ? n / step : most;
        Vector<uint8_t> sums[together] = {};
        for (int64_t s = 0; s < steps; ++s, x += step)
            repeat<together>([&](int v) COMPOSIT_STEP { sums[v] += load(x + v * width); });
        n -= steps * step;
        uint8_t bytes[step];
        repeat<together>([&](int v) COMPOSIT_STEP { store(bytes + v * width, sums[v]); });
        uint32_t sum = 0;
        for (int64_t i = 0; i < step; ++i) sum += bytes[i];
        total += sum;
    }
    for (int64_t i = 0; i < n; ++i) total += x[i];
    return total;
}

// One count, of chunks of any length.
class RowCount {
  public:
    void add(const uint8_t* x, int64_t n) {
        while (n > 0 && !is_stopped_) {
            const int64_t count = n < piece_length ? n : piece_length;
            count_ += count_truths(x, count);
            x += count, n -= count;
            is_stopped_ = n > 0 && module_goes_on && !module_goes_on();
        }
    }
    uint64_t result() const { return count_; }

  private:
    uint64_t count_ = 0;
    bool is_stopped_ = false;
};

// Up to column_strip<uint8_t> of them side by side.
class ColumnCount {
  public:
    explicit ColumnCount(int64_t width) : width_(width) {}
    // Element (r, c) at x[r * stride + c].
    void add(const uint8_t* x, int64_t rows, int64_t stride) {
        constexpr int64_t most = 255;
        for (int64_t r = 0; r < rows; r += most) {
            const int64_t end = rows - r < most ? rows : r + most;
            uint8_t sums[column_strip<uint8_t>] = {};
            for (int64_t i = r; i < end; ++i) combine<Sum>(sums, x + i * stride, sums, width_);
            for (int64_t c = 0; c < width_; ++c) counts_[c] += sums[c];
        }
    }
    template <class R>
    void result(R* out) const {
        for (int64_t c = 0; c < width_; ++c) out[c] = static_cast<R>(counts_[c]);
    }

  private:
    int64_t width_;
    uint64_t counts_[column_strip<uint8_t>] = {};
};
