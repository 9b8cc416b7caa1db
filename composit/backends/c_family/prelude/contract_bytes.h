// Products of bytes whose sums are exact in 32 bits, or wrap: four neighbours along the depth at a
// time.
//
// The instructions of some processors multiply bytes with a sign by bytes without one. The left
// operand's are taken as they are. Where both operands have a sign, or neither has, the right one
// is shifted: r = right + c, with c = 128 or -128. In numbers that wrap it holds that
//     sum left * right = sum left * r - c * sum left.
#pragma once

#include "composit/backends/c_family/prelude/contract_bytes_pack.h"

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

// Fours that are multiplied as pairs of 16 bits are so in two steps.
template <ByteDots dots>
constexpr int byte_steps = dots == ByteDots::pairs ? 2 : 1;

// What a step multiplies of a vector of the right operand's fours, which have a sign where the left
// operand has none.
template <ByteDots dots, bool left_has_sign>
struct ByteFactors {
    ByteSums parts[dots == ByteDots::plain ? 4 : 1];

    COMPOSIT_INLINE void read(const int8_t* from, uint32_t flip, int step) {
        const ByteSums fours =
            load(reinterpret_cast<const int32_t*>(from)) ^ static_cast<int32_t>(flip);
        if constexpr (dots == ByteDots::instruction) {
            parts[0] = fours;
        } else if constexpr (dots == ByteDots::pairs) {
            parts[0] = pairs_of<!left_has_sign>(fours, step);
        } else {
            for (int d = 0; d < 4; ++d) {
                const ByteSums first = fours << (24 - 8 * d);
                parts[d] = left_has_sign ? first >> 24 & 255 : first >> 24;
            }
        }
    }

    // sums + the products of a four of the left operand, or of a pair, the same for all lanes.
    COMPOSIT_INLINE ByteSums added(ByteSums sums, uint32_t word) const {
        const ByteSums left = static_cast<int32_t>(word) - ByteSums{};
        if constexpr (dots == ByteDots::instruction) {
#if defined(__x86_64__)
            if constexpr (left_has_sign)
                __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(parts[0]), "v"(left));
            else
                __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(left), "v"(parts[0]));
#endif
        } else if constexpr (dots == ByteDots::pairs) {
            sums += dot_pairs(left, parts[0]);
#if defined(__x86_64__)
            __asm__("" : "+v"(sums));  // sums stay in registers, what they are made of does not
#endif
        } else {
            repeat<4>([&](int d) COMPOSIT_STEP {
                const uint32_t byte = word >> 8 * d & 255u;
                sums += (left_has_sign ? static_cast<int8_t>(byte) : static_cast<int32_t>(byte)) *
                        parts[d];
            });
        }
        return sums;
    }

  private:
    // The first and third bytes of fours, or the second and fourth ones.
    template <bool have_sign>
    COMPOSIT_INLINE static ByteSums pairs_of(const ByteSums& fours, int step) {
        typedef Vector<int16_t> Pairs;
        typedef Vector<uint16_t> PlainPairs;
        if (!have_sign && step == 0) return fours & 0x00ff00ff;
        if (!have_sign) return reinterpret_cast<ByteSums>(reinterpret_cast<PlainPairs>(fours) >> 8);
        const Pairs pairs = reinterpret_cast<Pairs>(fours);
        return reinterpret_cast<ByteSums>((step == 0 ? pairs << 8 : pairs) >> 8);
    }
};

// Each four as two pairs of 16 bits: the first and third bytes, and the others behind them.
template <bool have_sign>
inline void spread_fours(const uint32_t* from, int64_t count, uint32_t* to) {
    for (int64_t e = 0; e < count; ++e) {
        const uint64_t four = from[e];
        uint64_t pairs = (four & 0x00ff00ffu) | (four & 0xff00ff00u) << 24;
        if constexpr (have_sign) {
            const uint64_t signs = pairs & 0x0080008000800080u;
            pairs |= (signs << 9) - (signs << 1);
        }
        __builtin_memcpy(to + 2 * e, &pairs, sizeof pairs);
    }
}

// Where the sums of R rows go: element (i, j) to rows[i][columns[j]] for j < count, or to a finish,
// with the numbers of the first one.
template <int R>
struct ByteOutput {
    int32_t* rows[R];
    const int64_t* columns;
    int64_t count;
    uint32_t added[R];  // to each sum of a row
    bool adds, are_neighbours;
    const Finish<int32_t>* finish;
    int64_t b, row, column;
};

// R rows, of row i the words of the steps from left[k * left_step + i * steps] on, times V vectors
// of columns of a panel, four bytes of each column at right[k * right_step + j * 4], for k < fours.
template <ByteDots dots, int R, int V, bool left_has_sign, uint32_t flip>
COMPOSIT_APART void byte_tile(const uint32_t* left, int64_t left_step, const int8_t* right,
                              int64_t right_step, int64_t fours, const ByteOutput<R>& out) {
    ByteSums sums[R][V];
    repeat<R>([&](int i) COMPOSIT_STEP {
        repeat<V>([&](int v) COMPOSIT_STEP { sums[i][v] = ByteSums{}; });
    });
    constexpr int steps = byte_steps<dots>;
    for (int64_t k = 0; k < fours; ++k) {
        repeat<steps>([&](int step) COMPOSIT_STEP {
            ByteFactors<dots, left_has_sign> factors[V];
            repeat<V>([&](int v)
                          COMPOSIT_STEP { factors[v].read(right + v * vector_bytes, flip, step); });
            repeat<R>([&](int i) COMPOSIT_STEP {
                __asm__("" ::: "memory");  // each row's word is read where it is used
                const uint32_t word = left[i * steps + step];
                repeat<V>([&](int v)
                              COMPOSIT_STEP { sums[i][v] = factors[v].added(sums[i][v], word); });
            });
        });
        left += left_step, right += right_step;
    }
    typedef Vector<uint32_t> Words;
    const auto finished = [&](int i, int v) COMPOSIT_STEP {
        return reinterpret_cast<Words>(sums[i][v]) + out.added[i];
    };
    if (out.finish == nullptr && out.are_neighbours && out.count == V * byte_lanes) {
        repeat<R>([&](int i) COMPOSIT_STEP {
            uint32_t* const row = reinterpret_cast<uint32_t*>(out.rows[i]) + out.columns[0];
            repeat<V>([&](int v) COMPOSIT_STEP {
                uint32_t* const to = row + v * byte_lanes;
                store(to, out.adds ? finished(i, v) + load(to) : finished(i, v));
            });
        });
        return;
    }
    uint32_t plain[R][byte_columns];
    repeat<R>([&](int i) COMPOSIT_STEP {
        repeat<V>([&](int v) COMPOSIT_STEP { store(plain[i] + v * byte_lanes, finished(i, v)); });
    });
    if (out.finish != nullptr) {
        out.finish->run(out.finish->operands, reinterpret_cast<const int32_t*>(plain[0]), out.b,
                        out.row, R, out.column, out.count);
        return;
    }
    for (int i = 0; i < R; ++i)
        for (int64_t j = 0; j < out.count; ++j) {
            uint32_t& element = reinterpret_cast<uint32_t*>(out.rows[i])[out.columns[j]];
            element = plain[i][j] + (out.adds ? element : 0);
        }
}

// Where the fours of columns are, of a block of depth: those of column j at at(j), then every
// `step` bytes.
struct BytePanels {
    const int8_t* start;
    int64_t width, apart, step;  // columns of a panel; bytes between panels, and between fours

    const int8_t* at(int64_t j) const { return start + j / width * apart + j % width * 4; }
};

// What the right operand's bytes are shifted by, as one flips them: 0x80 where both operands have a
// sign, or neither has.
template <class Left, class Right>
constexpr uint32_t flip_of_right =
    (static_cast<Left>(-1) < 0) == (static_cast<Right>(-1) < 0) ? 0x80808080u : 0u;

// A number as a type.
template <uint32_t number>
struct ByteChoice {
    static constexpr uint32_t value = number;
};

// The block of the output between some columns and some of the depth.
template <class Left>
struct ByteBlock {
    const Left* left;
    int32_t* output;
    int64_t b, k, length;  // of the batch; positions of the depth
    int64_t first_row;
    int64_t column, count;    // the first one, and how many
    const int64_t* columns;   // in the output
    BytePanels panels;        // of the right operand
    int64_t first_of_panels;  // the column's number there
    OffsetWindow<byte_depth>& left_depth;
    uint32_t* fours;  // scratch memory for the rows of a tile
    uint32_t* pairs;
};

// R rows of a block, from row i on.
template <ByteDots dots, int R, class Left, class Right>
inline void byte_rows(const ByteProduct<Left, Right>& c, const ByteBlock<Left>& block, int64_t i) {
    constexpr bool left_has_sign = static_cast<Left>(-1) < 0;
    constexpr uint32_t flip = flip_of_right<Left, Right>;
    ByteOutput<R> out;
    uint32_t sums[R] = {};
    constexpr int steps = byte_steps<dots>;
    const int64_t groups = (block.length + 3) / 4;
    const uint32_t* words = steps == 1 ? block.fours : block.pairs;
    int64_t left_step = R * steps;
    if (c.left_is_packed) {
        constexpr int64_t width = packed_byte_rows;
        left_step = width * steps;
        const int64_t row = i % width;
        const uint32_t* const panel = reinterpret_cast<const uint32_t*>(block.left) +
                                      (i / width * (iterations(c.depth) / 4) + block.k / 4) * width;
        if constexpr (steps == 1)
            words = panel;
        else if (row == 0 || i == block.first_row)  // of all rows of the panel
            spread_fours<left_has_sign>(panel, groups * width, block.pairs);
        words += row * steps;
    } else {
        const Left* rows[R];
        for (int r = 0; r < R; ++r) rows[r] = block.left + offset_of(c.rows, c.left_rows, i + r);
        for (int64_t k = 0; k < block.length; k += byte_depth) {
            OffsetWindow<byte_depth>& depth = block.left_depth;
            depth.move(c.depth, c.left_depth, block.k + k, least(block.length - k, byte_depth));
            pack_byte_rows<R, flip != 0>(rows, depth.offsets, depth.count, block.fours + k / 4 * R,
                                         sums);
        }
        if constexpr (steps > 1) spread_fours<left_has_sign>(block.fours, groups * R, block.pairs);
    }
    for (int r = 0; r < R; ++r) {
        out.rows[r] = c.finish ? nullptr : block.output + offset_of(c.rows, c.output_rows, i + r);
        out.added[r] = flip == 0 ? 0 : left_has_sign ? 0 - sums[r] * 128u : sums[r] * 128u;
    }
    out.adds = block.k > 0;
    out.finish = c.finish;
    out.b = block.b, out.row = i;
    for (int64_t j = 0; j < block.count; j += byte_columns) {
        out.columns = block.columns + j;
        out.column = block.column + j;
        out.count = least(block.count - j, byte_columns);
        out.are_neighbours = are_consecutive(out.columns, out.count);
        const int8_t* const right = block.panels.at(block.first_of_panels + j);
        const auto tile = [&](auto vectors, auto flipped) COMPOSIT_STEP {
            byte_tile<dots, R, decltype(vectors)::value, left_has_sign, decltype(flipped)::value>(
                words, left_step, right, block.panels.step, groups, out);
        };
        const auto tile_of = [&](auto vectors) COMPOSIT_STEP {
            if (flip != 0 && c.right_is_packed)
                tile(vectors, ByteChoice<flip>{});
            else
                tile(vectors, ByteChoice<0>{});
        };
        if (out.count <= byte_lanes)
            tile_of(ByteChoice<1>{});
        else
            tile_of(ByteChoice<2>{});
    }
}

// The rows of the next tile, from row i on, when `left` remain.
inline int next_byte_rows(int64_t i, int64_t left, bool are_packed) {
    if (are_packed) left = least(left, packed_byte_rows - i % packed_byte_rows);
    return left >= tile_rows ? tile_rows : left >= 4 ? 4 : 1;
}

// Sums that are finished are those of the whole depth: of so many columns that their copy is not
// larger than that of a block.
inline int64_t columns_of_block(bool is_finished, int64_t depth) {
    if (!is_finished || depth <= byte_depth) return byte_column_block;
    const int64_t whole = (depth + 3) / 4 * 4, count = byte_depth * byte_column_block / whole;
    return count - count % byte_columns;
}

template <ByteDots dots, class Left, class Right>
inline void contract_bytes_by(const ByteProduct<Left, Right>& c, const ContractPart& part,
                              void* scratch) {
    OffsetWindow<byte_column_block> right_columns, output_columns;
    OffsetWindow<byte_depth> left_depth, right_depth;
    ByteGroups groups_of_columns;
    int8_t* const copies = static_cast<int8_t*>(scratch);
    uint32_t* const fours = reinterpret_cast<uint32_t*>(
        copies + byte_column_block / byte_columns * bytes_of_panel(byte_depth / 4));
    uint32_t* const pairs = fours + most_finished_bytes / 4 * tile_rows;
    const int64_t depth = iterations(c.depth);
    const int64_t columns_at_once = columns_of_block(c.finish != nullptr, depth);
    const int64_t depth_at_once = c.finish != nullptr && depth > 0 ? depth : byte_depth;
    for (int64_t b = part.batch_begin; b < part.batch_end; ++b) {
        const Left* const left = c.left + offset_of(c.batch, c.left_batch, b);
        const Right* const right = c.right + offset_of(c.batch, c.right_batch, b);
        int32_t* const output =
            c.finish != nullptr ? nullptr : c.output + offset_of(c.batch, c.output_batch, b);
        for (int64_t j = part.column_begin; j < part.column_end; j += columns_at_once) {
            const int64_t count = least(part.column_end - j, columns_at_once);
            right_columns.move(c.columns, c.right_columns, j, count);
            output_columns.move(c.columns, c.output_columns, j, count);
            if (!c.right_is_packed) groups_of_columns.find(right_columns.offsets, count);
            for (int64_t k = 0; k == 0 || k < depth; k += depth_at_once) {
                const int64_t length = least(depth - k, depth_at_once);
                const int64_t apart = bytes_of_panel((length + 3) / 4);
                BytePanels panels = {copies, byte_columns, apart, byte_columns * 4};
                if (c.right_is_packed) {
                    constexpr int64_t four = packed_byte_columns * 4;
                    panels = {reinterpret_cast<const int8_t*>(right) + k / 4 * four,
                              packed_byte_columns, depth / 4 * four, four};
                }
                for (int64_t d = 0; !c.right_is_packed && d < length; d += byte_depth) {
                    const int64_t here = least(length - d, byte_depth);
                    right_depth.move(c.depth, c.right_depth, k + d, here);
                    const bool are_words = are_consecutive(right_depth.offsets, here);
                    // Columns that follow memory are read line by line, others across them.
                    const int64_t step = are_words ? 64 : 4;
                    for (int64_t p = 0; p < here; p += step)
                        pack_byte_columns<flip_of_right<Left, Right>>(
                            reinterpret_cast<const uint8_t*>(right), right_columns.offsets, count,
                            groups_of_columns, right_depth.offsets + p, least(here - p, step),
                            are_words, copies + (d + p) * byte_columns, apart);
                }
                const ByteBlock<Left> block = {left,
                                               output,
                                               b,
                                               k,
                                               length,
                                               part.row_begin,
                                               j,
                                               count,
                                               output_columns.offsets,
                                               panels,
                                               c.right_is_packed ? j : 0,
                                               left_depth,
                                               fours,
                                               pairs};
                for (int64_t i = part.row_begin; i < part.row_end;) {
                    const int rows = next_byte_rows(i, part.row_end - i, c.left_is_packed);
                    if (rows == tile_rows)
                        byte_rows<dots, tile_rows>(c, block, i);
                    else if (rows == 4)
                        byte_rows<dots, 4>(c, block, i);
                    else
                        byte_rows<dots, 1>(c, block, i);
                    i += rows;
                }
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
