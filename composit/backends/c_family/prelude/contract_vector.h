// Products of which one row is left: a vector times a matrix whose columns lie along the depth, and
// scalar products. Nothing is packed: chains of fma become lanes by transposes in registers.
#pragma once

#include "composit/backends/c_family/prelude/contract_lone.h"
#include "composit/backends/c_family/prelude/tall.h"

// What the chains' first factors are: the same of all chains, the second factors once more, or
// numbers that lie as these do.
enum class FirstFactors { shared, second, other };

// Carries as many chains as a vector has lanes on, over elements begin <= k < end of the depth.
// Second factors: right[starts[i] + k] of chain i. First ones: left[k * step], if they are shared,
// or left[starts[i] + k].
template <FirstFactors K, class T>
COMPOSIT_INLINE Vector<T> carry_chains_on(Vector<T> sums, const T* left, int64_t step,
                                          const T* right, const int64_t* starts, int64_t begin,
                                          int64_t end) {
    constexpr int lanes = vector_lanes<T>, wide = tall_columns<T>;
    int64_t k = begin;
    const auto add = [&]<int groups>(Numbers<groups>) COMPOSIT_STEP {
        Vector<T> a[groups * wide], b[groups * wide];
        load_tall<groups>(right + k, starts, b);
        if constexpr (K == FirstFactors::other) load_tall<groups>(left + k, starts, a);
        repeat<groups * wide>([&](int e) COMPOSIT_STEP {
            if constexpr (K == FirstFactors::shared)
                a[e] = left[(k + e) * step] - Vector<T>{};
            else if constexpr (K == FirstFactors::second)
                a[e] = b[e];
            sums = fused_lanes<T>(a[e], b[e], sums);
        });
        k += groups * wide;
    };
    constexpr int together = K == FirstFactors::other || vector_bytes < 64 ? 1 : 4;
    if constexpr (together > 1)
        while (k + together * wide <= end) add(Numbers<together>{});
    while (k + wide <= end) add(Numbers<1>{});
    for (; k < end; ++k) {
        T a[lanes], b[lanes];
        for (int i = 0; i < lanes; ++i) {
            b[i] = right[starts[i] + k];
            if constexpr (K == FirstFactors::shared)
                a[i] = left[k * step];
            else if constexpr (K == FirstFactors::second)
                a[i] = b[i];
            else
                a[i] = left[starts[i] + k];
        }
        sums = fused_lanes<T>(load(a), load(b), sums);
    }
    return sums;
}

// A scalar product of vectors without gaps: blocks of the depth are lanes. The last one may be
// shorter: its sum is taken out while the others go on.
template <FirstFactors K, class T>
COMPOSIT_APART T dense_sum(const T* left, const T* right, int64_t depth) {
    constexpr int lanes = vector_lanes<T>;
    T total = 0, results[lanes];
    for (int64_t k = 0; k < depth; k += lanes * contract_depth) {
        const int64_t blocks = least(lanes, (depth - k + contract_depth - 1) / contract_depth);
        const int64_t last = least(contract_depth, depth - k - (blocks - 1) * contract_depth);
        int64_t starts[lanes];
        for (int64_t i = 0; i < lanes; ++i) starts[i] = least(i, blocks - 1) * contract_depth;
        const T *a = left + k, *b = right + k;
        Vector<T> sums = carry_chains_on<K, T>(Vector<T>{}, a, 1, b, starts, 0, last);
        store(results, sums);
        if (last < contract_depth && blocks > 1) {
            const T result_of_last = results[blocks - 1];
            for (int64_t i = blocks - 1; i < lanes; ++i) starts[i] = 0;
            store(results, carry_chains_on<K, T>(sums, a, 1, b, starts, last, contract_depth));
            results[blocks - 1] = result_of_last;
        }
        for (int64_t i = 0; i < blocks; ++i)
            total = k == 0 && i == 0 ? results[0] : total + results[i];
    }
    return total;
}

// The results of as many columns as a vector has lanes.
template <class T>
COMPOSIT_APART Vector<T> column_sums(const T* left, int64_t step, const T* right,
                                     const int64_t* columns, int64_t depth) {
    Vector<T> total{};
    for (int64_t k = 0; k < depth; k += contract_depth) {
        const Vector<T> sums =
            carry_chains_on<FirstFactors::shared, T>(Vector<T>{}, left + k * step, step, right + k,
                                                     columns, 0, least(contract_depth, depth - k));
        total = k == 0 ? sums : total + sums;
    }
    return total;
}

// The result of one column. Where a vector has few lanes, they are fewer than the chains that keep
// the processor busy.
template <class T>
inline T column_sum(const T* left, int64_t step, const T* right, int64_t depth) {
    if constexpr (vector_lanes<T> >= lone_blocks)
        if (step == 1 && depth > 2 * contract_depth)
            return left == right ? dense_sum<FirstFactors::second, T>(left, right, depth)
                                 : dense_sum<FirstFactors::other, T>(left, right, depth);
    return step == 1 ? lone_sum<true>(left, step, right, 1, depth)
                     : lone_sum<false>(left, step, right, 1, depth);
}

// Whether one row meets columns that lie along the depth.
template <class T>
inline bool is_of_vector(const Contraction<T>& c) {
    return c.finish == nullptr && !c.left_is_packed && !c.right_is_packed && c.depth.rank == 1 &&
           c.right_depth[0] == 1 && iterations(c.rows) == 1;
}

template <class T>
inline void contract_vector(const Contraction<T>& c, const ContractPart& part) {
    constexpr int lanes = vector_lanes<T>;
    constexpr int64_t window = 256;
    OffsetWindow<window> columns, results;
    const int64_t step = c.left_depth[0], depth = c.depth.extents[0];
    const int64_t count = part.column_end - part.column_begin;
    for (int64_t b = part.batch_begin; b < part.batch_end; ++b) {
        const T* const left = c.left + offset_of(c.batch, c.left_batch, b);
        const T* const right = c.right + offset_of(c.batch, c.right_batch, b);
        T* const output = c.output + offset_of(c.batch, c.output_batch, b);
        for (int64_t j = 0; j < count; j += window) {
            const int64_t here = least(window, count - j);
            columns.move(c.columns, c.right_columns, part.column_begin + j, here);
            results.move(c.columns, c.output_columns, part.column_begin + j, here);
            if (here < lanes && (here == 1 || depth > 2 * contract_depth)) {
                for (int64_t i = 0; i < here; ++i)
                    output[results.offsets[i]] =
                        column_sum(left, step, right + columns.offsets[i], depth);
                continue;
            }
            // Too few columns: the last one fills the vector up.
            for (int64_t i = here; i < lanes; ++i) columns.offsets[i] = columns.offsets[here - 1];
            for (int64_t i = 0; i < here; i += lanes) {
                // The last vector ends with the last column: it may compute some again.
                const int64_t first = here < lanes ? 0 : least(i, here - lanes);
                T sums[lanes];
                store(sums, column_sums(left, step, right, columns.offsets + first, depth));
                for (int64_t e = 0; e < least(here, lanes); ++e)
                    output[results.offsets[first + e]] = sums[e];
            }
        }
    }
}
