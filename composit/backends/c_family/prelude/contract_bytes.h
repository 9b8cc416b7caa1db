// Products of bytes whose sums are exact in 32 bits, or wrap: four neighbours along the depth at a
// time.
//
// The left operand's bytes are read without a sign, the right one's with one, as the instructions
// of some processors take them: l = left + 128 where left has a sign, r = right - 128 where right
// has none. With a = 128 or 0 and c = 128 or 0 it holds that
//     sum left * right = sum (l - a) * (r + c) = sum l * r + c * sum l - a * sum r - depth * a * c,
// in numbers that wrap.
#pragma once

#include "composit/backends/c_family/prelude/contract_bytes_described.h"

// How four bytes are multiplied by four: by one instruction, as two pairs of 16 bits, or one by
// one. The instruction is written as text, so that code for processors without it may hold it.
enum class ByteDots { instruction, pairs, plain };
#if defined(__x86_64__) && (COMPOSIT_VECTOR_BYTES < 64 || defined(__AVX512BW__))
constexpr ByteDots dots_without_instruction = ByteDots::pairs;
#else
constexpr ByteDots dots_without_instruction = ByteDots::plain;
#endif

// Whether this processor has the instruction.
inline bool has_byte_dots() {
#if defined(__x86_64__) && COMPOSIT_VECTOR_BYTES == 64
    return __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

typedef Vector<int32_t> ByteSums;
// From one panel to the next: not a multiple of a page, or all would share a few of the cache's
// sets while they are packed side by side.
constexpr int64_t bytes_of_panel(int64_t fours) { return fours * byte_columns * 4 + 64; }

// Sums of products of 16-bit neighbours.
COMPOSIT_INLINE ByteSums dot_pairs(const ByteSums& a, const ByteSums& b) {
    typedef Vector<int16_t> Pairs;
    const Pairs x = reinterpret_cast<Pairs>(a), y = reinterpret_cast<Pairs>(b);
#if defined(__x86_64__) && COMPOSIT_VECTOR_BYTES == 64 && defined(__AVX512BW__)
#ifdef __clang__
    return reinterpret_cast<ByteSums>(__builtin_ia32_pmaddwd512(x, y));
#else
    return __builtin_ia32_pmaddwd512_mask(x, y, ByteSums{}, uint16_t(-1));
#endif
#elif defined(__x86_64__) && COMPOSIT_VECTOR_BYTES == 32 && defined(__AVX2__)
    return reinterpret_cast<ByteSums>(__builtin_ia32_pmaddwd256(x, y));
#elif defined(__x86_64__) && COMPOSIT_VECTOR_BYTES == 16
    return reinterpret_cast<ByteSums>(__builtin_ia32_pmaddwd128(x, y));
#else
    ByteSums sums;
    for (int i = 0; i < byte_lanes; ++i)
        sums[i] = x[2 * i] * y[2 * i] + x[2 * i + 1] * y[2 * i + 1];
    return sums;
#endif
}

// A vector of fours with a sign, as the products read them.
template <ByteDots dots>
struct ByteFactors {
    ByteSums parts[dots == ByteDots::instruction ? 1 : dots == ByteDots::pairs ? 2 : 4];

    // `flip`: of bytes without a sign, as they are.
    COMPOSIT_INLINE void read(const int8_t* from, uint32_t flip) {
        const ByteSums fours =
            load(reinterpret_cast<const int32_t*>(from)) ^ static_cast<int32_t>(flip);
        if constexpr (dots == ByteDots::instruction) {
            parts[0] = fours;
        } else if constexpr (dots == ByteDots::pairs) {
            typedef Vector<int16_t> Pairs;
            const Pairs pairs = reinterpret_cast<Pairs>(fours);
            parts[0] = reinterpret_cast<ByteSums>((pairs << 8) >> 8);
            parts[1] = reinterpret_cast<ByteSums>(pairs >> 8);
        } else {
            parts[0] = fours << 24 >> 24, parts[1] = fours << 16 >> 24;
            parts[2] = fours << 8 >> 24, parts[3] = fours >> 24;
        }
    }

    // sums + the products of four bytes without a sign, the same for all lanes.
    COMPOSIT_INLINE ByteSums added(ByteSums sums, uint32_t four) const {
        const auto lanes = [](uint32_t word)
                               COMPOSIT_STEP { return static_cast<int32_t>(word) - ByteSums{}; };
        if constexpr (dots == ByteDots::instruction) {
#if defined(__x86_64__)
            const ByteSums left = lanes(four);
            __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(left), "v"(parts[0]));
#endif
            return sums;
        } else if constexpr (dots == ByteDots::pairs) {
            return sums + dot_pairs(lanes(four & 0x00ff00ffu), parts[0]) +
                   dot_pairs(lanes(four >> 8 & 0x00ff00ffu), parts[1]);
        } else {
            return sums + lanes(four & 255u) * parts[0] + lanes(four >> 8 & 255u) * parts[1] +
                   lanes(four >> 16 & 255u) * parts[2] + lanes(four >> 24) * parts[3];
        }
    }
};

// Where the sums of R rows go: element (i, j) to rows[i][columns[j]] for j < count.
template <int R>
struct ByteOutput {
    int32_t* rows[R];
    const int64_t* columns;
    int64_t count;
    uint32_t added[R];  // to each sum of a row
    bool adds, are_neighbours;
};

// R rows, four bytes of each at left[k * R + i], times a panel of columns, four bytes of each at
// right[k * step + j * 4], for k < fours. Less 128 times the sums of the columns where the left
// operand has a sign.
template <ByteDots dots, int R, bool left_has_sign, uint32_t flip>
COMPOSIT_APART void byte_tile(const uint32_t* left, const int8_t* right, int64_t step,
                              int64_t fours, const ByteOutput<R>& out) {
    ByteSums sums[R][2], of_columns[2];
    repeat<R>([&](int i) COMPOSIT_STEP { sums[i][0] = sums[i][1] = ByteSums{}; });
    of_columns[0] = of_columns[1] = ByteSums{};
    for (int64_t k = 0; k < fours; ++k) {
        ByteFactors<dots> factors[2];
        factors[0].read(right, flip), factors[1].read(right + vector_bytes, flip);
        repeat<R>([&](int i) COMPOSIT_STEP {
            const uint32_t four = left[i];
            __asm__("" ::: "memory");  // each row's four is read where it is used
            sums[i][0] = factors[0].added(sums[i][0], four);
            sums[i][1] = factors[1].added(sums[i][1], four);
        });
        if constexpr (left_has_sign) {
            of_columns[0] = factors[0].added(of_columns[0], 0x01010101u);
            of_columns[1] = factors[1].added(of_columns[1], 0x01010101u);
        }
        left += R, right += step;
    }
    repeat<R>([&](int i) COMPOSIT_STEP {
        typedef Vector<uint32_t> Words;
        Words words[2];
        for (int v = 0; v < 2; ++v)
            words[v] = reinterpret_cast<Words>(sums[i][v]) + out.added[i] -
                       (reinterpret_cast<Words>(of_columns[v]) << 7);
        uint32_t* const to = reinterpret_cast<uint32_t*>(out.rows[i]);
        if (out.are_neighbours && out.count == byte_columns) {
            uint32_t* const row = to + out.columns[0];
            for (int v = 0; v < 2; ++v)
                store(row + v * byte_lanes,
                      out.adds ? words[v] + load(row + v * byte_lanes) : words[v]);
        } else {
            uint32_t plain[byte_columns];
            for (int v = 0; v < 2; ++v) store(plain + v * byte_lanes, words[v]);
            for (int64_t j = 0; j < out.count; ++j) {
                uint32_t& element = to[out.columns[j]];
                element = plain[j] + (out.adds ? element : 0);
            }
        }
    });
}

// to[4 * j + d] = the byte at from[along[d] + j], flipped, for j < 16.
COMPOSIT_INLINE void interleave_fours(const uint8_t* from, const int64_t* along, uint32_t flip,
                                      int8_t* to) {
    typedef uint8_t Bytes __attribute__((vector_size(16)));
    typedef uint16_t Pairs __attribute__((vector_size(16)));
    typedef uint32_t Fours __attribute__((vector_size(16)));
    const auto row = [&](int d) COMPOSIT_STEP {
        Bytes bytes;
        __builtin_memcpy(&bytes, from + along[d], sizeof bytes);
        return bytes;
    };
    const auto low = [](Bytes a, Bytes b) COMPOSIT_STEP {
        return reinterpret_cast<Pairs>(
            __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    };
    const auto high = [](Bytes a, Bytes b) COMPOSIT_STEP {
        return reinterpret_cast<Pairs>(__builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27,
                                                               12, 28, 13, 29, 14, 30, 15, 31));
    };
    // Each vector is stored by itself: as parts of an array they would be read again for a larger
    // store, before they are written.
    const auto put = [&](Pairs a, Pairs b, int8_t* at) COMPOSIT_STEP {
        const Fours first =
            reinterpret_cast<Fours>(__builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)) ^ flip;
        const Fours second =
            reinterpret_cast<Fours>(__builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)) ^
            flip;
        __builtin_memcpy(at, &first, sizeof first);
        __builtin_memcpy(at + sizeof first, &second, sizeof second);
    };
    const Bytes a = row(0), b = row(1), c = row(2), d = row(3);
    put(low(a, b), low(c, d), to);
    put(high(a, b), high(c, d), to + 32);
}

constexpr int columns_together = 16;  // those of a group
// Which groups of columns are neighbours.
struct ByteNeighbours {
    bool are_neighbours[byte_column_block / columns_together];

    void find(const int64_t* offsets, int64_t count) {
        for (int64_t j = 0; j < count; j += columns_together)
            are_neighbours[j / columns_together] =
                count - j >= columns_together && are_consecutive(offsets + j, columns_together);
    }
};

// The fours of some columns along a part of the depth, in panels that lie `apart` bytes from one
// another. `offsets` are those of the columns, `along` those of the depth positions, which are
// neighbours if `are_words`; zeros fill fours and panels up.
template <class Right>
inline void pack_byte_columns(const Right* from, const int64_t* offsets, int64_t count,
                              const ByteNeighbours& groups, const int64_t* along, int64_t length,
                              bool are_words, int8_t* to, int64_t apart) {
    constexpr uint32_t flip = static_cast<Right>(-1) < 0 ? 0 : 0x80808080u;
    const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(from);
    for (int64_t j = 0; j < count; j += columns_together) {
        const bool are_neighbours = groups.are_neighbours[j / columns_together];
        const int64_t last = least(count, j + columns_together);
        for (int64_t k = 0; k < length; k += 4) {
            const int64_t here = least(length - k, 4);
            const auto place = [&](int64_t e) COMPOSIT_STEP {
                return to + k * byte_columns + e / byte_columns * apart + e % byte_columns * 4;
            };
            if (are_neighbours && here == 4) {
                constexpr int part =
                    byte_columns < columns_together ? byte_columns : columns_together;
                int8_t fours[columns_together * 4];
                int8_t* const at = part == columns_together ? place(j) : fours;
                interleave_fours(bytes + offsets[j], along + k, flip, at);
                for (int e = 0; part < columns_together && e < columns_together; e += part)
                    __builtin_memcpy(place(j + e), fours + 4 * e, 4 * part);
                continue;
            }
            if (are_words && here == 4) {
                for (int64_t e = j; e < last; ++e) {
                    uint32_t four;
                    __builtin_memcpy(&four, bytes + offsets[e] + along[k], 4);
                    four ^= flip;
                    __builtin_memcpy(place(e), &four, 4);
                }
                continue;
            }
            for (int64_t e = j; e < last; ++e) {
                const uint8_t* const column = bytes + offsets[e];
                uint32_t four = 0;
                for (int64_t d = 0; d < here; ++d) four |= uint32_t{column[along[k + d]]} << 8 * d;
                four ^= flip >> 8 * (4 - here);
                __builtin_memcpy(place(e), &four, 4);
            }
        }
    }
    for (int64_t e = count; e % byte_columns != 0; ++e)
        for (int64_t k = 0; k < length; k += 4)
            __builtin_memset(
                to + k * byte_columns + e / byte_columns * apart + e % byte_columns * 4, 0, 4);
}

// Fours of R rows, those of row i at to[k * R + i], filled up with zeros; their sums are added to
// `sums` where the right operand has no sign.
template <int R, bool wants_sums, class Left>
inline void pack_byte_rows(const Left* const* rows, const int64_t* along, int64_t length,
                           uint32_t* to, uint32_t* sums) {
    constexpr bool has_sign = static_cast<Left>(-1) < 0;
    constexpr uint8_t flip = has_sign ? 0x80 : 0;
    const bool are_neighbours = are_consecutive(along, length);
    for (int i = 0; i < R; ++i) {
        const uint8_t* const row = reinterpret_cast<const uint8_t*>(rows[i]);
        int64_t k = 0;
        uint32_t sum = 0;
        if (are_neighbours) {
            const uint8_t* const first = row + along[0];
            for (; k + 4 <= length; k += 4) {
                uint32_t four;
                __builtin_memcpy(&four, first + k, 4);
                to[k / 4 * R + i] = four ^ 0x01010101u * flip;
            }
            if constexpr (wants_sums)
                for (int64_t e = 0; e < k; ++e) sum += static_cast<uint8_t>(first[e] ^ flip);
        }
        for (; k < length; k += 4) {
            uint8_t each[4] = {};
            for (int64_t d = 0; d < least(4, length - k); ++d) {
                each[d] = static_cast<uint8_t>(row[along[k + d]] ^ flip);
                sum += each[d];
            }
            __builtin_memcpy(to + k / 4 * R + i, each, 4);
        }
        sums[i] = sum;
    }
}

// Where the fours of columns are, of a block of depth: those of column j at at(j), then every
// `step` bytes.
struct BytePanels {
    const int8_t* start;
    int64_t width, apart, step;  // columns of a panel; bytes between panels, and between fours

    const int8_t* at(int64_t j) const { return start + j / width * apart + j % width * 4; }
};

// One part of the output, which lies between the columns of one block of depth and columns: R rows
// from row i on, and `count` columns, the first of which is number `first` of the panels.
template <ByteDots dots, int R, class Left, class Right>
inline void byte_rows(const ByteProduct<Left, Right>& c, const Left* left, int32_t* output,
                      int64_t i, const int64_t* along, int64_t length, bool is_first,
                      const BytePanels& panels, int64_t first, const int64_t* columns,
                      int64_t count, uint32_t* fours) {
    constexpr bool left_has_sign = static_cast<Left>(-1) < 0;
    constexpr bool right_has_sign = static_cast<Right>(-1) < 0;
    const Left* rows[R];
    ByteOutput<R> out;
    uint32_t sums[R];
    for (int r = 0; r < R; ++r) {
        rows[r] = left + offset_of(c.rows, c.left_rows, i + r);
        out.rows[r] = output + offset_of(c.rows, c.output_rows, i + r);
    }
    pack_byte_rows<R, !right_has_sign>(rows, along, length, fours, sums);
    const uint32_t both = left_has_sign && !right_has_sign ? 128u * 128u : 0;
    for (int r = 0; r < R; ++r)
        out.added[r] = (right_has_sign ? 0 : sums[r] * 128u) - static_cast<uint32_t>(length) * both;
    out.adds = !is_first;
    const int64_t groups = (length + 3) / 4;
    for (int64_t j = 0; j < count; j += byte_columns) {
        out.columns = columns + j;
        out.count = least(count - j, byte_columns);
        out.are_neighbours = are_consecutive(out.columns, out.count);
        const int8_t* const right = panels.at(first + j);
        if (!right_has_sign && c.right_is_packed)
            byte_tile<dots, R, left_has_sign, right_has_sign ? 0 : 0x80808080u>(
                fours, right, panels.step, groups, out);
        else
            byte_tile<dots, R, left_has_sign, 0>(fours, right, panels.step, groups, out);
    }
}

template <ByteDots dots, class Left, class Right>
inline void contract_bytes_by(const ByteProduct<Left, Right>& c, const ContractPart& part,
                              void* scratch) {
    OffsetWindow<byte_column_block> right_columns, output_columns;
    OffsetWindow<byte_depth> left_depth, right_depth;
    ByteNeighbours neighbours;
    int8_t* const copies = static_cast<int8_t*>(scratch);
    uint32_t* const fours = reinterpret_cast<uint32_t*>(
        copies + byte_column_block / byte_columns * bytes_of_panel(byte_depth / 4));
    const int64_t depth = iterations(c.depth);
    for (int64_t b = part.batch_begin; b < part.batch_end; ++b) {
        const Left* const left = c.left + offset_of(c.batch, c.left_batch, b);
        const Right* const right = c.right + offset_of(c.batch, c.right_batch, b);
        int32_t* const output = c.output + offset_of(c.batch, c.output_batch, b);
        for (int64_t j = part.column_begin; j < part.column_end; j += byte_column_block) {
            const int64_t count = least(part.column_end - j, byte_column_block);
            right_columns.move(c.columns, c.right_columns, j, count);
            output_columns.move(c.columns, c.output_columns, j, count);
            neighbours.find(right_columns.offsets, count);
            for (int64_t k = 0; k == 0 || k < depth; k += byte_depth) {
                const int64_t length = least(depth - k, byte_depth), groups = (length + 3) / 4;
                left_depth.move(c.depth, c.left_depth, k, length);
                BytePanels panels = {copies, byte_columns, bytes_of_panel(groups),
                                     byte_columns * 4};
                if (c.right_is_packed) {
                    constexpr int64_t four = packed_byte_columns * 4;
                    panels = {reinterpret_cast<const int8_t*>(right) + k / 4 * four,
                              packed_byte_columns, depth / 4 * four, four};
                } else {
                    right_depth.move(c.depth, c.right_depth, k, length);
                    const bool are_words = are_consecutive(right_depth.offsets, length);
                    // Columns that follow memory are read line by line, others across them.
                    const int64_t step = are_words ? 64 : 4;
                    for (int64_t p = 0; p < length; p += step)
                        pack_byte_columns(right, right_columns.offsets, count, neighbours,
                                          right_depth.offsets + p, least(length - p, step),
                                          are_words, copies + p * byte_columns,
                                          bytes_of_panel(groups));
                }
                const auto rows_at = [&](int64_t i, auto together) COMPOSIT_STEP {
                    byte_rows<dots, decltype(together)::rows>(
                        c, left, output, i, left_depth.offsets, length, k == 0, panels,
                        c.right_is_packed ? j : 0, output_columns.offsets, count, fours);
                };
                int64_t i = part.row_begin;
                for (; i + tile_rows <= part.row_end; i += tile_rows)
                    rows_at(i, RowsTogether<tile_rows>{});
                if constexpr (tile_rows > 4)
                    for (; i + 4 <= part.row_end; i += 4) rows_at(i, RowsTogether<4>{});
                for (; i < part.row_end; ++i) rows_at(i, RowsTogether<1>{});
            }
        }
    }
}

// One part of the output. `scratch` is byte_scratch bytes.
template <class Left, class Right>
inline void contract_bytes(const ByteProduct<Left, Right>& c, const ContractPart& part,
                           void* scratch) {
    if constexpr (vector_bytes == 64)
        if (has_byte_dots()) return contract_bytes_by<ByteDots::instruction>(c, part, scratch);
    contract_bytes_by<dots_without_instruction>(c, part, scratch);
}
