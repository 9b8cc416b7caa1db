// The columns shape of reduce.h: many neighbouring reductions side by side, one row of elements
// after the other.
#pragma once

#include "composit/backends/c_family/prelude/reduce.h"

template <class T>
constexpr int64_t column_strip = 1024 / static_cast<int64_t>(sizeof(T));

// Up to column_strip<T> reductions. 80 KiB: keep it in scratch memory or on the stack of one task.
template <class Op, class T>
class ColumnReduction {
  public:
    explicit ColumnReduction(int64_t width) : width_(width) {}

    // The next `rows` elements of every column; element (r, c) at x[r * stride + c].
    void add(const T* x, int64_t rows, int64_t stride) {
        for (int64_t r = 0; r < rows;) {
            const int64_t taken = next_rows(rows - r);
            if (taken > 1) {
                for (int64_t lane = 0; lane < reduce_lanes; ++lane)
                    combine_four(lanes_[lane], x + lane * stride, reduce_lanes * stride);
            } else if (filled_ < reduce_lanes) {
                __builtin_memcpy(lanes_[filled_], x, static_cast<size_t>(width_) * sizeof(T));
            } else {
                T* lane = lanes_[filled_ % reduce_lanes];
                combine<Op>(lane, x, lane, width_);
            }
            r += taken;
            x += taken * stride;
            count(taken);
        }
    }

    // The same of elements that are computed: (r, c) is value(r, c).
    template <class Value>
    COMPOSIT_INLINE void add_computed(int64_t rows, int64_t width, const Value& value) {
        for (int64_t r = 0; r < rows;) {
            const int64_t taken = next_rows(rows - r);
            if (taken > 1) {
                for (int64_t l = 0; l < reduce_lanes; ++l) {
                    T* lane = lanes_[l];
                    const int64_t at = r + l;
                    for (int64_t c = 0; c < width; ++c) {
                        const T first = value(at, c), second = value(at + reduce_lanes, c),
                                third = value(at + 2 * reduce_lanes, c),
                                fourth = value(at + 3 * reduce_lanes, c);
                        const T two = Op::of(Op::of(lane[c], first), second);
                        lane[c] = Op::of(Op::of(two, third), fourth);
                    }
                }
            } else {
                T* lane = lanes_[filled_ % reduce_lanes];
                if (filled_ < reduce_lanes)
                    for (int64_t c = 0; c < width; ++c) lane[c] = value(r, c);
                else
                    for (int64_t c = 0; c < width; ++c) lane[c] = Op::of(lane[c], value(r, c));
            }
            r += taken;
            count(taken);
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
    // How many of the next `rows` rows to take at once: four of each lane, or one.
    int64_t next_rows(int64_t rows) const {
        constexpr int64_t several = 4 * reduce_lanes;
        const bool is_group = filled_ >= reduce_lanes && filled_ % reduce_lanes == 0 &&
                              rows >= several && filled_ + several <= reduce_block;
        return is_group ? several : 1;
    }

    void count(int64_t taken) {
        filled_ += taken;
        if (filled_ == reduce_block) close_block();
    }

    // Four elements of one lane at once: its sums are read and written once.
    void combine_four(T* lane, const T* x, int64_t step) {
        constexpr int lanes = vector_lanes<T>;
        int64_t c = 0;
        for (; c + lanes <= width_; c += lanes) {
            Vector<T> sum = load(lane + c);
            for (int64_t r = 0; r < 4; ++r) sum = Op::of(sum, load(x + r * step + c));
            store(lane + c, sum);
        }
        for (; c < width_; ++c)
            for (int64_t r = 0; r < 4; ++r) lane[c] = Op::of(lane[c], x[r * step + c]);
    }

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
