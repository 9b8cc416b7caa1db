// The columns shape of reduce.h: many neighbouring reductions side by side, one row of elements
// after the other.
#pragma once

#include "composit/backends/c_family/prelude/reduce.h"

template <class T>
constexpr int64_t column_strip =
    512 / static_cast<int64_t>(sizeof(T));  // 32 rows of these stay in L1

// Up to column_strip<T> reductions. 40 KiB: keep it in scratch memory or on the stack of one task.
template <class Op, class T>
class ColumnReduction {
  public:
    explicit ColumnReduction(int64_t width) : width_(width) {}

    // The next `rows` elements of every column; element (r, c) at x[r * stride + c].
    void add(const T* x, int64_t rows, int64_t stride) {
        for (int64_t r = 0; r < rows; ++r, x += stride) {
            T* lane = lanes_[filled_ % reduce_lanes];
            if (filled_ < reduce_lanes)
                __builtin_memcpy(lane, x, static_cast<size_t>(width_) * sizeof(T));
            else
                combine<Op>(lane, x, lane, width_);
            if (++filled_ == reduce_block) close_block();
        }
    }

    // Column c's result to out[c].
    void result(T* out) {
        if (filled_ > 0) close_block();
        if (blocks_ == 0) {
            for (int64_t c = 0; c < width_; ++c) out[c] = Op::template empty<T>;
            return;
        }
        int level = __builtin_ctzll(blocks_);
        __builtin_memcpy(out, tree_[level], static_cast<size_t>(width_) * sizeof(T));
        while (blocks_ >> ++level)
            if (blocks_ >> level & 1) combine<Op>(tree_[level], out, out, width_);
    }

  private:
    void close_block() {
        for (int64_t half = reduce_lanes / 2; half >= 1; half /= 2) {
            if (filled_ <= half) continue;
            for (int64_t j = 0; j < half && j + half < filled_; ++j)
                combine<Op>(lanes_[j], lanes_[j + half], lanes_[j], width_);
            filled_ = half;
        }
        filled_ = 0;
        int level = 0;
        for (uint64_t carry = blocks_++; carry & 1; carry >>= 1, ++level)
            combine<Op>(tree_[level], lanes_[0], lanes_[0], width_);
        __builtin_memcpy(tree_[level], lanes_[0], static_cast<size_t>(width_) * sizeof(T));
    }

    int64_t width_;
    int64_t filled_ = 0;
    uint64_t blocks_ = 0;
    alignas(64) T lanes_[reduce_lanes][column_strip<T>];
    alignas(64) T tree_[reduce_levels][column_strip<T>];
};
