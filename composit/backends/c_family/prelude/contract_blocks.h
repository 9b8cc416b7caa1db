// One part of a product's output, block by block and tile by tile.
#pragma once

#include "composit/backends/c_family/prelude/contract_lone.h"
#include "composit/backends/c_family/prelude/contract_problem.h"

// In each block of depth the right operand's panels meet blocks of the left one's rows.
template <class T>
class ContractBlocks {
  public:
    ContractBlocks(const Contraction<T>& c, T* scratch, LeftReading left)
        : c_(c),
          left_reading_(left),
          left_panels_(scratch, contract_row_block * contract_depth),
          packed_right_(scratch + contract_row_block * contract_depth) {}

    template <class Allowed>
    void run(const ContractPart& part) {
        may_be_split_ = Allowed::template may_be_split<T>;
        run(part, &ContractBlocks::depth_block<Allowed>);
    }

  private:
    // What does not depend on the way of reading is compiled once for all.
    using DepthBlock = void (ContractBlocks::*)(const ContractPart&, int64_t, int64_t);
    COMPOSIT_APART void run(const ContractPart& part, DepthBlock do_block) {
        const int64_t depth = whole_depth_ = iterations(c_.depth);
        for (int64_t b = part.batch_begin; b < part.batch_end; ++b) {
            batch_ = b;
            left_ = c_.left + offset_of(c_.batch, c_.left_batch, b);
            right_ = c_.right + offset_of(c_.batch, c_.right_batch, b);
            output_ = c_.output + offset_of(c_.batch, c_.output_batch, b);
            const int64_t block = c_.right_is_packed ? contract_column_block : column_block_to_pack;
            for (int64_t j = part.column_begin; j < part.column_end; j += block) {
                const int64_t count = least(part.column_end - j, block);
                right_columns_.move(c_.columns, c_.right_columns, j, count);
                output_columns_.move(c_.columns, c_.output_columns, j, count);
                int64_t k = 0;
                do {  // at least once: without depth the result is zeros
                    (this->*do_block)(part, k, least(depth - k, contract_depth));
                    k += contract_depth;
                } while (k < depth);
            }
        }
    }

    template <class Allowed>
    COMPOSIT_APART void depth_block(const ContractPart& part, int64_t k, int64_t depth) {
        first_depth_ = k;
        left_depth_.move(c_.depth, c_.left_depth, k, depth);
        right_depth_.move(c_.depth, c_.right_depth, k, depth);
        const int64_t columns = right_columns_.count;
        const bool reads_right_once = Allowed::template reads_right<T> && !c_.right_is_packed &&
                                      part.row_end - part.row_begin <= tile_rows;
        const bool reads_left_directly = left_reading_ == LeftReading::suits
                                             ? columns <= 2 * tile_columns<T>
                                             : left_reading_ == LeftReading::direct;
        // The last, incomplete panel is packed in any case; it is the only one filled up with
        // zeros.
        direct_columns_ = reads_right_once
                              ? consecutive_runs<tile_columns<T>>(right_columns_.offsets, columns)
                              : 0;
        reads_left_directly_ = Allowed::reads_left && (!Allowed::packs_left ||
                                                       (reads_left_directly && !c_.left_is_packed));
        narrow_end_ =
            columns - (has_wide_panel<Allowed>() ? columns % tile_columns<T> + tile_columns<T> : 0);
        packed_begin_ = packed_end_ = direct_columns_;
        // What no second row block reads takes the place of what was packed before.
        row_block_ = c_.left_is_packed && columns <= few_columns
                         ? least(contract_row_block, row_block_of_few_columns)
                         : contract_row_block;
        is_used_once_ = part.row_end - part.row_begin <= row_block_;
        for (int64_t i = part.row_begin; i < part.row_end; i += row_block_) {
            const int64_t rows = least(part.row_end - i, row_block_);
            is_packing_ = !c_.right_is_packed && i == part.row_begin;
            ahead_.right = {};
            left_rows_.move(c_.rows, c_.left_rows, i, rows);
            output_rows_.move(c_.rows, c_.output_rows, i, rows);
            // Nothing has fetched the very first block: its tiles do that for each other.
            is_first_block_ = c_.left_is_packed && k == 0 && i == part.row_begin;
            next_left_ = next_left(part, i + row_block_, k, tiled_panels() - is_first_block_);
            ahead_.left = is_first_block_
                              ? tiles_ahead(i + tile_rows, rows - tile_rows, 0, depth, 1)
                              : next_left_;
            if (reads_left_directly_) {
                if constexpr (Allowed::reads_left) row_block<Allowed, DirectLeft<T>>(k == 0, depth);
            } else if constexpr (Allowed::packs_left) {
                if (!c_.left_is_packed)
                    left_panels_.pack(left_, left_rows_.offsets, rows,
                                      rows == part.row_end - part.row_begin, left_depth_.offsets, k,
                                      depth, whole_depth_);
                row_block<Allowed, PackedLeft<T>>(k == 0, depth);
            }
        }
    }

    // Whether the last columns are a wide panel.
    template <class Allowed>
    bool has_wide_panel() const {
        if constexpr (Allowed::template may_be_wide<T, false>() ||
                      Allowed::template may_be_wide<T, true>()) {
            constexpr int64_t width = tile_columns<T>;
            const int64_t columns = right_columns_.count;
            // Among many panels it saves little. A lone column's vectors reach into the tile before
            // or after.
            return columns > width && columns <= few_columns && is_wide_end<T>(columns % width) &&
                   !c_.right_is_packed && !reads_left_directly_ && direct_columns_ == 0 &&
                   iterations(c_.rows) >= vector_lanes<T>;
        }
        return false;
    }

    COMPOSIT_APART TileOutput<T> output_at(int64_t i, int64_t j, bool is_first,
                                           int64_t width = tile_columns<T>) const {
        const int64_t count = least(right_columns_.count - j, width);
        const int64_t* columns = output_columns_.offsets + j;
        const bool is_consecutive = count == width && are_consecutive(columns, width);
        const bool is_last = first_depth_ + contract_depth >= whole_depth_;
        return {output_,
                output_rows_.offsets + i,
                columns,
                1,
                count,
                is_consecutive,
                is_first,
                is_last ? c_.finish : nullptr,
                batch_,
                left_rows_.begin + i,
                right_columns_.begin + j};
    }

    DirectRight<T> direct_right(int64_t j) const {
        return {right_ + right_columns_.offsets[j], right_depth_.offsets};
    }
    PackedRight<T> packed_right(int64_t j, int64_t depth) const {
        if (c_.right_is_packed)
            return {right_ + (right_columns_.begin + j) * whole_depth_ +
                    first_depth_ * tile_columns<T>};
        return {packed_right_ + (j - packed_begin_) * depth};
    }
    // Whether the panels from column j on lie side by side: read together, they are whole lines.
    bool are_best_together(int64_t j) const {
        constexpr int64_t length = panels_at_a_time * tile_columns<T>;
        return j + length <= right_columns_.count &&
               are_consecutive(right_columns_.offsets + j, length);
    }

    // Packs `panels` panels from column j on, or some more.
    COMPOSIT_APART void need_panels(int64_t j, int64_t panels, int64_t depth) {
        constexpr int64_t width = tile_columns<T>;
        const int64_t left = narrow_end_ - j;
        if (c_.right_is_packed || least(j + panels * width, narrow_end_) <= packed_end_) return;
        if (is_used_once_) packed_begin_ = j;
        // One alone stays in the L1 cache until it is used.
        const bool is_one = is_used_once_ && panels == 1 && !are_best_together(j);
        const int64_t count = least(left, is_one ? width : panels_at_a_time * width);
        pack_right(right_, right_columns_.offsets + j, count, right_depth_.offsets, depth,
                   columns_read(count % width), packed_right_ + (j - packed_begin_) * depth,
                   right_columns_.count - j);
        packed_end_ = j + count;
        fetch_next_panels(j);
    }

    // Whether a panel of so many columns is split.
    bool is_split(int64_t count) const {
        return may_be_split_ && !reads_left_directly_ && count > 0 && count <= split_columns<T> &&
               count < tile_columns<T>;
    }
    // How many columns of a panel are read, of which `count` are wanted.
    int64_t columns_read(int64_t count) const {
        if (!is_split(count)) return tile_columns<T>;
        const int64_t narrow = narrow_part<T>(count), rest = narrow % narrow_group;
        const int64_t wide = count > narrow ? vector_lanes<T> : 0;
        return wide + narrow - rest + narrow_columns_of(rest);
    }

    static constexpr int64_t size = sizeof(T);

    // How many tiles stand above each other in this block.
    int64_t tiles_of_panel() const { return (left_rows_.count + tile_rows - 1) / tile_rows; }
    // How many stand side by side, without a panel of narrow groups only: these fetch nothing.
    int64_t tiled_panels() const {
        const int64_t last = right_columns_.count % tile_columns<T>;
        return (right_columns_.count + tile_columns<T> - 1) / tile_columns<T> -
               (is_split(last) && narrow_part<T>(last) == last);
    }

    // What is fetched for later blocks and panels (contract_fetching.h).
    COMPOSIT_APART LinesAhead<T> tiles_ahead(int64_t row, int64_t rows, int64_t k, int64_t depth,
                                             int64_t panels);
    COMPOSIT_APART LinesAhead<T> next_left(const ContractPart& part, int64_t row, int64_t k,
                                           int64_t panels);
    void fetch_next_panels(int64_t j);
    void fetch_next_panel(int64_t j, int64_t depth);

    template <class Allowed, class Left>
    COMPOSIT_APART void row_block(bool is_first, int64_t depth) {
        constexpr int64_t width = tile_columns<T>;
        for (int64_t j = 0; j < narrow_end_; j += width) {
            if (is_first_block_ && j == width) ahead_.left = next_left_;
            const bool is_direct = Allowed::template reads_right<T> && j < direct_columns_;
            if constexpr (Allowed::template has_four_panels<T>) {
                if (left_rows_.count == 1 && j + 4 * width <= narrow_end_ &&
                    is_direct == (j + 3 * width < direct_columns_)) {
                    if (!is_direct) need_panels(j, 4, depth);
                    four_panels<Allowed, Left>(j, is_direct, is_first, depth);
                    j += 3 * width;
                    continue;
                }
            }
            TileOutput<T> out = output_at(0, j, is_first);
            if constexpr (Left::is_packed && Allowed::template may_be_split<T>) {
                if (!is_direct && is_split(out.count)) {
                    need_panels(j, 1, depth);
                    split_panel<Allowed, Left>(j, depth, out);
                    continue;
                }
            }
            int64_t i = 0;
            if (!is_direct) i = first_tiles<Allowed, Left>(j, depth, out);
            fetch_next_panel(j, depth);
            while (i < left_rows_.count) {
                const int rows = rows_of_tile(i, out);
                const Left left = left_at<Left>(i, depth, rows);
                if constexpr (Allowed::template reads_right<T>)
                    if (is_direct) tile<Allowed>(rows, left, direct_right(j), depth, out);
                if (!is_direct) tile<Allowed>(rows, left, packed_right(j, depth), depth, out);
                i += rows;
            }
        }
        if constexpr (Left::is_packed && Allowed::template may_be_wide<T, false>())
            if (right_columns_.count > narrow_end_ && !has_lone())
                wide_panel<Allowed, false>(is_first, depth);
        if constexpr (Left::is_packed && Allowed::template may_be_wide<T, true>())
            if (has_lone()) wide_panel<Allowed, true>(is_first, depth);
    }

    // The rows of the tile at row i, whose results go to `out`.
    int rows_of_tile(int64_t i, TileOutput<T>& out) const {
        const int rows = next_tile_rows(left_rows_.count - i, c_.left_is_packed);
        out.rows = output_rows_.offsets + i;
        out.row = left_rows_.begin + i;
        out.row_count = out.lone_rows = least(left_rows_.count - i, rows);
        const bool is_first = i == 0 && !(c_.left_is_packed && left_rows_.begin > 0);
        out.lone_lane = is_first || rows > vector_lanes<T> ? 0 : vector_lanes<T> - rows;
        return rows;
    }

    bool has_lone() const { return right_columns_.count - narrow_end_ > wide_columns<T>; }

    // The last panel, if it is a wide one.
    template <class Allowed, bool lone>
    void wide_panel(bool is_first, int64_t depth) {
        constexpr int wide = wide_columns<T>;
        const int64_t j = narrow_end_;
        if (is_packing_) pack_wide_panel(j, depth);
        const PackedRight<T, wide> panel{packed_right(j, depth).at};
        TileOutput<T> out = output_at(0, j, is_first, wide);
        if constexpr (lone) out.lone = panel.at + wide * depth;
        for (int64_t i = 0; i < left_rows_.count;) {
            if (is_first_block_ && ahead_.left.is_done()) ahead_.left = next_left_;
            const int rows = rows_of_tile(i, out);
            const T* const left = left_at<PackedLeft<T>>(i, depth, rows).at;
            if (rows == tile_rows)
                two_halves<Allowed, lone>(left, panel, depth, out);
            else
                tile<Allowed, 3, lone>(rows, PackedLeft<T>{left}, panel, depth, out);
            i += rows;
        }
    }
    // A whole tile of a wide panel.
    template <class Allowed, bool lone>
    void two_halves(const T* left, PackedRight<T, wide_columns<T>> panel, int64_t depth,
                    const TileOutput<T>& out) {
        if constexpr (Allowed::template has_tiles<tile_rows>) {
            constexpr int half = tile_rows / 2;
            TileOutput<T> part = out;
            part.row_count = least(out.row_count, half);
            contract_tile<T, half, 3, lone>(HalfLeft<T>{{left}}, panel, depth, part, ahead_);
            part.row_count = out.row_count - half;
            part.rows += half, part.row += half;
            if (part.row_count > 0)
                contract_tile<T, half, 3>(HalfLeft<T>{{left + half}}, panel, depth, part, ahead_);
        }
    }
    void pack_wide_panel(int64_t j, int64_t depth) {
        constexpr int wide = wide_columns<T>;
        const int64_t* const columns = right_columns_.offsets + j;
        const int64_t count = right_columns_.count - j;
        if (is_used_once_) packed_begin_ = j;
        T* const to = packed_right_ + (j - packed_begin_) * depth;
        pack_right_panel<wide>(right_, columns, least(count, wide), right_depth_.offsets, depth,
                               to);
        if (count > wide)
            for (int64_t k = 0; k < depth; ++k)
                to[wide * depth + k] = right_[columns[wide] + right_depth_.offsets[k]];
        packed_end_ = right_columns_.count;
    }

    // The last panel, of few columns.
    template <class Allowed, class Left>
    void split_panel(int64_t j, int64_t depth, TileOutput<T> out) {
        const int64_t first = out.count - narrow_part<T>(out.count);
        if constexpr (has_half_tiles)
            if (first > 0) half_tiles<Allowed, Left>(j, depth, out);
        if (first < out.count) narrow_tiles<Allowed, Left>(j, first, depth, out);
    }

    template <class Allowed, class Left>
    void half_tiles(int64_t j, int64_t depth, TileOutput<T> out) {
        constexpr int64_t lanes = vector_lanes<T>;
        out.count = least(out.count, lanes);
        out.is_consecutive = out.count == lanes && are_consecutive(out.columns, lanes);
        for (int64_t i = 0; i < left_rows_.count;) {
            const int rows = rows_of_tile(i, out);
            tile<Allowed, 1>(rows, left_at<Left>(i, depth, rows), packed_right(j, depth), depth,
                             out);
            i += rows;
        }
    }

    // Columns from `first` on, in groups.
    template <class Allowed, class Left>
    void narrow_tiles(int64_t j, int64_t first, int64_t depth, TileOutput<T> out) {
        const int64_t whole = out.count;
        for (int64_t group = first; group < whole; group += narrow_group) {
            out.columns = output_columns_.offsets + j + group;
            out.column = right_columns_.begin + j + group;
            out.count = least(whole - group, narrow_group);
            const T* const right = packed_right(j, depth).at + group;
            const int64_t columns = narrow_columns_of(out.count);
            if constexpr (Allowed::template may_have_group<T, 1>())
                if (columns == 1) narrow_columns_times<Allowed, 1, Left>(right, depth, out);
            if constexpr (Allowed::template may_have_group<T, 2>())
                if (columns == 2) narrow_columns_times<Allowed, 2, Left>(right, depth, out);
            if constexpr (Allowed::template may_have_group<T, narrow_group>())
                if (columns == narrow_group)
                    narrow_columns_times<Allowed, narrow_group, Left>(right, depth, out);
        }
    }
    template <class Allowed, int N, class Left>
    void narrow_columns_times(const T* right, int64_t depth, TileOutput<T> out) {
        constexpr int together = narrow_tiles_together<T, N>();
        for (int64_t i = 0; i < left_rows_.count; i += out.row_count) {
            const int rows = rows_of_tile(i, out);
            const T* const left = left_at<Left>(i, depth, rows).at;
            [[maybe_unused]] const int64_t others =
                left_rows_.count - i - (together - 1) * tile_rows;
            if constexpr (together > 1 && Allowed::template has_tiles<tile_rows>) {
                if (others > 0 && next_tile_rows(others, c_.left_is_packed) == tile_rows) {
                    out.row_count = least(left_rows_.count - i, together * tile_rows);
                    const int64_t stride = left_at<Left>(i + tile_rows, depth, rows).at - left;
                    contract_narrow<T, tile_rows, together, N>(left, stride, right, depth, out);
                    continue;
                }
            }
            narrow_tile<Allowed, N>(rows, left, right, depth, out);
        }
    }
    template <class Allowed, int N>
    static void narrow_tile(int rows, const T* left, const T* right, int64_t depth,
                            const TileOutput<T>& out) {
        if constexpr (Allowed::template has_tiles<tile_rows>)
            if (rows == tile_rows)
                return contract_narrow<T, tile_rows, 1, N>(left, 0, right, depth, out);
        if constexpr (tile_rows > 8 && Allowed::template has_tiles<8>)
            if (rows == 8) return contract_narrow<T, 8, 1, N>(left, 0, right, depth, out);
        if constexpr (tile_rows > 4 && Allowed::template has_tiles<4>)
            if (rows == 4) return contract_narrow<T, 4, 1, N>(left, 0, right, depth, out);
        if constexpr (Allowed::template has_tiles<1>)
            contract_narrow<T, 1, 1, N>(left, 0, right, depth, out);
    }

    // Sees to it that the panel of column j is packed: by its first tile, where that can do it.
    // Returns the number of rows that are done.
    template <class Allowed, class Left>
    int64_t first_tiles(int64_t j, int64_t depth, TileOutput<T>& out) {
        constexpr int64_t width = tile_columns<T>;
        if (c_.right_is_packed || j < packed_end_) return 0;
        if constexpr (Allowed::template has_tiles<tile_rows>) {
            if (j + width <= right_columns_.count && !are_best_together(j) &&
                rows_of_tile(0, out) == tile_rows) {
                if (is_used_once_) packed_begin_ = j;
                PackingRight<T> right{right_, right_depth_.offsets,
                                      packed_right_ + (j - packed_begin_) * depth};
                if (right.find(right_columns_.offsets + j)) {
                    contract_tile<T, tile_rows>(left_at<Left>(0, depth, tile_rows), right, depth,
                                                out, ahead_);
                    packed_end_ = j + width;
                    return tile_rows;
                }
            }
        }
        need_panels(j, 1, depth);
        return 0;
    }

    template <class Allowed, class Left>
    void four_panels(int64_t j, bool is_direct, bool is_first, int64_t depth) const {
        constexpr int64_t w = tile_columns<T>;
        const TileOutput<T> outs[4] = {output_at(0, j, is_first), output_at(0, j + w, is_first),
                                       output_at(0, j + 2 * w, is_first),
                                       output_at(0, j + 3 * w, is_first)};
        const Left left = left_at<Left>(0, depth, 1);
        if (!is_direct)
            return contract_row<T>(left,
                                   {packed_right(j, depth), packed_right(j + w, depth),
                                    packed_right(j + 2 * w, depth), packed_right(j + 3 * w, depth)},
                                   depth, outs);
        if constexpr (Allowed::template reads_right<T>)
            contract_row<T>(left,
                            {direct_right(j), direct_right(j + w), direct_right(j + 2 * w),
                             direct_right(j + 3 * w)},
                            depth, outs);
    }

    template <class Left>
    Left left_at(int64_t i, int64_t depth, int rows) const {
        if constexpr (Left::is_packed)
            return {c_.left_is_packed
                        ? left_ + (left_rows_.begin + i) * whole_depth_ + first_depth_ * rows
                        : left_panels_.begin() + i * depth};
        else
            return {left_, left_rows_.offsets + i, left_depth_.offsets};
    }

    template <class Allowed, int V = 2, bool lone = false, class Left, class Right>
    void tile(int rows, Left left, Right right, int64_t depth, const TileOutput<T>& out) {
        if constexpr (V <= 2 && Allowed::template has_tiles<tile_rows>)
            if (rows == tile_rows)
                return contract_tile<T, tile_rows, V>(left, right, depth, out, ahead_);
        if constexpr (tile_rows > 8 && Allowed::template has_tiles<8>)
            if (rows == 8) return contract_tile<T, 8, V, lone>(left, right, depth, out, ahead_);
        if constexpr (tile_rows > 4 && Allowed::template has_tiles<4>)
            if (rows == 4) return contract_tile<T, 4, V, lone>(left, right, depth, out, ahead_);
        if constexpr (Allowed::template has_tiles<1>)
            contract_tile<T, 1, V, lone>(left, right, depth, out, ahead_);
    }

    const Contraction<T>& c_;
    const LeftReading left_reading_;
    LeftPanels<T> left_panels_;
    T* packed_right_;
    const T* left_ = nullptr;
    const T* right_ = nullptr;
    T* output_ = nullptr;
    int64_t direct_columns_ = 0, packed_begin_ = 0, packed_end_ = 0;
    int64_t narrow_end_ = 0;  // where a wide panel begins, if there is one
    bool is_used_once_ = false, is_packing_ = false, is_first_block_ = false;
    bool reads_left_directly_ = false, may_be_split_ = false;
    Ahead<T> ahead_;
    LinesAhead<T> next_left_;
    int64_t tile_starts_[contract_row_block / tile_rows];
    int64_t row_block_ = 0, whole_depth_ = 0, first_depth_ = 0, batch_ = 0;
    OffsetWindow<contract_row_block> left_rows_, next_rows_, output_rows_;
    OffsetWindow<contract_column_block> right_columns_, output_columns_;
    OffsetWindow<contract_depth> left_depth_, right_depth_;
};
