// Reductions in the one order that composit defines: element i of a block of 4096 goes to lane i
// mod 32, lanes combine by halving, blocks by pairs of neighbours.
//
// Both shapes here return the same bits: a row streams the elements of one reduction, columns
// stream the elements of many neighbouring reductions side by side.
#pragma once

#include "composit/backends/c_family/prelude/combine.h"
#include "composit/backends/c_family/prelude/pieces.h"

constexpr int64_t reduce_block = 4096;
constexpr int reduce_lanes = 32;
constexpr int reduce_levels = 48;  // a tree over 2^48 blocks

// As many lanes as a vector holds, and all of them.
template <class T>
struct ReduceLanes {
    static constexpr int all_bytes = reduce_lanes * static_cast<int>(sizeof(T));
    static constexpr int bytes = all_bytes < vector_bytes ? all_bytes : vector_bytes;
    static constexpr int width = bytes / static_cast<int>(sizeof(T));
    static constexpr int count = reduce_lanes / width;
    typedef T Register __attribute__((vector_size(bytes)));
};

// Halving: lane j with lane j + 16, then j + 8, …; lanes from `present` on are absent.
template <class Op, class T>
COMPOSIT_INLINE T combine_lanes(T* lanes, int64_t present) {
    for (int half = reduce_lanes / 2; half >= 1; half /= 2) {
        if (present <= half) continue;
        for (int64_t j = 0; j < half && j + half < present; ++j)
            lanes[j] = Op::of(lanes[j], lanes[j + half]);
        present = half;
    }
    return lanes[0];
}

template <class Op, class T>
COMPOSIT_INLINE T reduce_one_block(const T* x, int64_t n);

// The elements of one reduction, in chunks of any length; multiples of 32 are fastest.
template <class Op, class T>
class RowReduction {
  public:
    void add(const T* x, int64_t n) {
        while (n > 0 && !is_decided_) {
            if (filled_ == 0 && n >= reduce_block) {
                add_block(reduce_one_block<Op>(x, reduce_block));
                x += reduce_block;
                n -= reduce_block;
                continue;
            }
            const int64_t room = reduce_block - filled_, count = n < room ? n : room;
            add_to_block(x, count);
            filled_ += count;
            if (filled_ == reduce_block) close_block();
            x += count;
            n -= count;
        }
    }

    T result() {
        if (filled_ > 0) close_block();
        if (blocks_ == 0) return Op::template empty<T>;
        int level = __builtin_ctzll(blocks_);
        T value = tree_[level];
        while (blocks_ >> ++level)
            if (blocks_ >> level & 1) value = Op::of(tree_[level], value);
        return value;
    }

  private:
    void add_to_block(const T* x, int64_t n) {
        int64_t i = 0;
        for (int64_t lane = filled_; lane < reduce_lanes && i < n; ++lane) lanes_[lane] = x[i++];
        for (int64_t lane = (filled_ + i) % reduce_lanes; lane != 0 && i < n;
             lane = (lane + 1) % reduce_lanes)
            lanes_[lane] = Op::of(lanes_[lane], x[i++]);
        const int64_t whole = (n - i) / reduce_lanes * reduce_lanes;
        if (whole > 0) add_groups(x + i, whole);
        for (int64_t lane = 0; i + whole + lane < n; ++lane)
            lanes_[lane] = Op::of(lanes_[lane], x[i + whole + lane]);
    }

    // A multiple of 32 elements, all lanes kept in registers.
    void add_groups(const T* x, int64_t n) {
        typedef ReduceLanes<T> Lanes;
        typename Lanes::Register sums[Lanes::count], values;
#pragma GCC unroll 16
        for (int v = 0; v < Lanes::count; ++v)
            __builtin_memcpy(&sums[v], lanes_ + v * Lanes::width, sizeof values);
        for (int64_t i = 0; i < n; i += reduce_lanes) {
#pragma GCC unroll 16
            for (int v = 0; v < Lanes::count; ++v) {
                __builtin_memcpy(&values, x + i + v * Lanes::width, sizeof values);
                sums[v] = Op::of(sums[v], values);
            }
        }
#pragma GCC unroll 16
        for (int v = 0; v < Lanes::count; ++v)
            __builtin_memcpy(lanes_ + v * Lanes::width, &sums[v], sizeof values);
    }

    void close_block() {
        const T value = combine_lanes<Op>(lanes_, filled_);
        filled_ = 0;
        add_block(value);
    }

    void add_block(T value) {
        if constexpr (may_decide<Op>) is_decided_ = Op::decides(value);
        int level = 0;
        for (uint64_t carry = blocks_++; carry & 1; carry >>= 1)
            value = Op::of(tree_[level++], value);
        tree_[level] = value;
        constexpr uint64_t blocks_of_piece = piece_length / reduce_block;
        if (blocks_ % blocks_of_piece == 0 && module_goes_on && !module_goes_on())
            is_decided_ = true;
    }

    int64_t filled_ = 0;   // elements in the open block
    uint64_t blocks_ = 0;  // closed blocks; its set bits say which levels of the tree hold a value
    bool is_decided_ = false;  // by a closed block, which the tree holds
    T lanes_[reduce_lanes];
    T tree_[reduce_levels];
};

// Combines values of which none is NaN for Op, an extremum of floats, that were looked through
// before; as Op itself for all others.
template <class Op, class T>
struct WithoutNan {
    template <class V>
    static COMPOSIT_INLINE V of(const V& a, const V& b) {
        if constexpr (is_extremum<Op> && is_floating<T>)
            return Op::without_nan(a, b);
        else
            return Op::of(a, b);
    }
};

// The lanes of a reduction, in registers, combined by halving.
template <class Op, class T>
COMPOSIT_INLINE T combine_vectors(typename ReduceLanes<T>::Register* sums) {
    typedef ReduceLanes<T> Lanes;
#pragma GCC unroll 16
    for (int half = Lanes::count / 2; half >= 1; half /= 2)
#pragma GCC unroll 16
        for (int v = 0; v < half; ++v) sums[v] = Op::of(sums[v], sums[v + half]);
    T lanes[Lanes::width];
    __builtin_memcpy(lanes, &sums[0], sizeof lanes);
#pragma GCC unroll 16
    for (int half = Lanes::width / 2; half >= 1; half /= 2)
#pragma GCC unroll 32
        for (int lane = 0; lane < half; ++lane)
            lanes[lane] = Op::of(lanes[lane], lanes[lane + half]);
    return lanes[0];
}

// A reduction of at most one block whose lanes all get an element: nothing has to be kept but
// them. An extremum of floats waits for one instruction an element where NaN is looked for apart.
template <class Op, class T>
COMPOSIT_INLINE T reduce_one_block(const T* x, int64_t n) {
    typedef ReduceLanes<T> Lanes;
    typedef WithoutNan<Op, T> Combiner;
    constexpr bool looks_for_nan = is_extremum<Op> && is_floating<T>;
    typename Lanes::Register sums[Lanes::count], values;
    decltype(values != values) nans[Lanes::count] = {};
#pragma GCC unroll 16
    for (int v = 0; v < Lanes::count; ++v) {
        __builtin_memcpy(&sums[v], x + v * Lanes::width, sizeof values);
        if constexpr (looks_for_nan) nans[v] = sums[v] != sums[v];
    }
    int64_t i = reduce_lanes;
    for (; i + reduce_lanes <= n; i += reduce_lanes) {
#pragma GCC unroll 16
        for (int v = 0; v < Lanes::count; ++v) {
            __builtin_memcpy(&values, x + i + v * Lanes::width, sizeof values);
            sums[v] = Combiner::of(sums[v], values);
            if constexpr (looks_for_nan) nans[v] |= values != values;
        }
    }
    bool is_nan = false;
    if (i < n) {
        T lanes[reduce_lanes];
        __builtin_memcpy(lanes, sums, sizeof lanes);
        for (int64_t lane = 0; i + lane < n; ++lane) {
            lanes[lane] = Combiner::of(lanes[lane], x[i + lane]);
            is_nan |= x[i + lane] != x[i + lane];
        }
        __builtin_memcpy(sums, lanes, sizeof lanes);
    }
    const T result = combine_vectors<Combiner, T>(sums);
    if constexpr (looks_for_nan) {
#pragma GCC unroll 16
        for (int v = 1; v < Lanes::count; ++v) nans[0] |= nans[v];
#pragma GCC unroll 64
        for (int lane = 0; lane < Lanes::width; ++lane) is_nan |= nans[0][lane] != 0;
        if (is_nan) return static_cast<T>(__builtin_nan(""));
    }
    return result;
}

// One whole reduction of contiguous elements.
template <class Op, class T>
inline T reduce_row(const T* x, int64_t n) {
    if (n >= reduce_lanes && n <= reduce_block) return reduce_one_block<Op>(x, n);
    if (n > 0 && n < reduce_lanes) {
        T lanes[reduce_lanes];
        for (int64_t j = 0; j < n; ++j) lanes[j] = x[j];
        return combine_lanes<Op>(lanes, n);
    }
    RowReduction<Op, T> row;
    row.add(x, n);
    return row.result();
}

// The combination of the results of `n` > 0 blocks, as RowReduction forms it; overwrites them.
template <class Op, class T>
inline T combine_blocks(T* blocks, int64_t n) {
    for (; n > 1; n = (n + 1) / 2) {
        for (int64_t i = 0; i < n / 2; ++i) blocks[i] = Op::of(blocks[2 * i], blocks[2 * i + 1]);
        if (n % 2 == 1) blocks[n / 2] = blocks[n - 1];
    }
    return blocks[0];
}
