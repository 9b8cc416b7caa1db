// Products of few rows whose right operand is computed where it is read: weights in few bits.
//
// The order of work is that of contract.h: blocks of 256 along the depth, in each one chain of fma
// from +0, block results added in order.
#pragma once

#include "composit/backends/c_family/prelude/contract_ahead.h"

// `W` neighbouring integers of one or two bytes as ints. g++ makes several steps of the loop
// where the processor has one instruction.
template <int W, class Narrow>
COMPOSIT_INLINE void widen(const Narrow* from, int32_t* to) {
#if defined(__x86_64__) && !defined(__clang__) && COMPOSIT_VECTOR_BYTES >= 32
    constexpr int lanes = vector_lanes<int32_t>;
    if constexpr (W % lanes == 0) {
        typedef char Bytes __attribute__((vector_size(16), unused));
        typedef int64_t Halves __attribute__((vector_size(16), unused));
        typedef short Words __attribute__((vector_size(COMPOSIT_VECTOR_BYTES / 2)));
        constexpr bool is_signed = Narrow(-1) < Narrow(0);
        for (int i = 0; i < W; i += lanes) {
            Vector<int32_t> wide{};
            if constexpr (sizeof(Narrow) == 1) {
#if COMPOSIT_VECTOR_BYTES == 64
                Bytes bytes;
                __builtin_memcpy(&bytes, from + i, sizeof bytes);
                wide = is_signed ? __builtin_ia32_pmovsxbd512_mask(bytes, wide, uint16_t(-1))
                                 : __builtin_ia32_pmovzxbd512_mask(bytes, wide, uint16_t(-1));
#else
                // Half a vector that is stored is waited for when all of it is read.
                int64_t half;
                __builtin_memcpy(&half, from + i, sizeof half);
                const Bytes bytes = reinterpret_cast<Bytes>(Halves{half, 0});
                wide = is_signed ? __builtin_ia32_pmovsxbd256(bytes)
                                 : __builtin_ia32_pmovzxbd256(bytes);
#endif
            } else {
                Words words;
                __builtin_memcpy(&words, from + i, sizeof words);
#if COMPOSIT_VECTOR_BYTES == 64
                wide = is_signed ? __builtin_ia32_pmovsxwd512_mask(words, wide, uint16_t(-1))
                                 : __builtin_ia32_pmovzxwd512_mask(words, wide, uint16_t(-1));
#else
                wide = is_signed ? __builtin_ia32_pmovsxwd256(words)
                                 : __builtin_ia32_pmovzxwd256(words);
#endif
            }
            store(to + i, wide);
        }
        return;
    }
#endif
    for (int i = 0; i < W; ++i) to[i] = from[i];
}

// `W` neighbouring numbers of float16 as floats: one instruction for 16 where the processor has it,
// which differs from scalar(bits) in NaN that arithmetic makes quiet.
template <int W, class Scalar>
COMPOSIT_INLINE void widen_float16(const uint16_t* from, float* to, const Scalar& scalar) {
#if defined(__x86_64__) && !defined(__clang__) && COMPOSIT_VECTOR_BYTES == 64
    typedef short Words __attribute__((vector_size(32)));
    constexpr int current_rounding = 4;
    if constexpr (W % 16 == 0) {
        for (int i = 0; i < W; i += 16) {
            Words words;
            __builtin_memcpy(&words, from + i, sizeof words);
            store(to + i, __builtin_ia32_vcvtph2ps512_mask(words, Vector<float>{}, uint16_t(-1),
                                                           current_rounding));
        }
        return;
    }
#endif
    for (int i = 0; i < W; ++i) to[i] = scalar(from[i]);
}

// Row i of the left operand begins at at[i * row]; its elements lie `step` apart.
struct DecodedLeft {
    const float* at;
    int64_t row, step;
};

// `R` rows times one tile of columns. decode(k, to) writes row k of the tile's right operand.
template <int R, int W, class Decode>
COMPOSIT_INLINE void decoded_rows(const DecodedLeft& left, int64_t depth, const Decode& decode,
                                  float (&out)[R][W]) {
    constexpr int lanes = vector_lanes<float>, vectors = W / lanes;
    for (int64_t begin = 0; begin < depth; begin += contract_depth) {
        const int64_t end = begin + contract_depth < depth ? begin + contract_depth : depth;
        Vector<float> sums[R][vectors];
        repeat<R>([&](int i) COMPOSIT_STEP {
            repeat<vectors>([&](int v) COMPOSIT_STEP { sums[i][v] = Vector<float>{}; });
        });
        for (int64_t k = begin; k < end; ++k) {
            alignas(64) float right[W];
            decode(k, right);
            Vector<float> row[vectors];
            repeat<vectors>([&](int v) COMPOSIT_STEP { row[v] = load(right + v * lanes); });
            repeat<R>([&](int i) COMPOSIT_STEP {
                const Vector<float> factor =
                    left.at[i * left.row + k * left.step] - Vector<float>{};
                repeat<vectors>([&](int v) COMPOSIT_STEP {
                    sums[i][v] = fused_lanes<float>(factor, row[v], sums[i][v]);
                });
            });
        }
        repeat<R>([&](int i) COMPOSIT_STEP {
            repeat<vectors>([&](int v) COMPOSIT_STEP {
                float* const to = out[i] + v * lanes;
                store(to, begin == 0 ? sums[i][v] : load(to) + sums[i][v]);
            });
        });
    }
}

// `R` rows times one tile, of which the first `count` columns are stored; rows of the output begin
// `out_row` apart. So many rows at a time as their sums fit the registers.
template <int R, int W, class Decode>
COMPOSIT_INLINE void contract_decoded(DecodedLeft left, int64_t depth, const Decode& decode,
                                      float* out, int64_t out_row, int64_t count) {
    constexpr int most = vector_bytes == 64 ? 4 : 1;
    constexpr int some = R < most ? R : most;
    alignas(64) float made[some][W];
    decoded_rows<some, W>(left, depth, decode, made);
    for (int i = 0; i < some; ++i)
        __builtin_memcpy(out + i * out_row, made[i], static_cast<size_t>(count) * sizeof(float));
    if constexpr (R > some) {
        left.at += some * left.row;
        contract_decoded<R - some, W>(left, depth, decode, out + some * out_row, out_row, count);
    }
}
