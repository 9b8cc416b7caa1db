// The text of a tiled product. The next tiles are on their way from memory while the present ones
// are multiplied; one barrier a step.
#include "composit/backends/simt/contract_tiles.h"

#include "composit/backends/simt/contract_copies.h"
#include "composit/base/text.h"

#include <algorithm>

namespace composit::simt {
namespace {

using ir::kernel::Contract;

int64_t tiles_of(int64_t count, int64_t size) { return (count + size - 1) / size; }

class TilePrinter {
  public:
    TilePrinter(KernelText& kernel, const Contract& contract, const ContractLoops& loops,
                const ContractArithmetic& arithmetic, const ContractPlan& plan,
                const ContractSums& sums)
        : kernel_(kernel),
          contract_(contract),
          loops_(loops),
          arithmetic_(arithmetic),
          tile_(*plan.tile),
          parts_(plan.parts),
          sums_(sums),
          f_(kernel, kernel.name),
          left_(f_, arithmetic, loops.left, "left", arithmetic.left_end, loops.depth, tile_.rows,
                tile_.depth, tile_.threads()),
          right_(f_, arithmetic, loops.right, "right", arithmetic.right_end, loops.depth,
                 tile_.columns, tile_.depth, tile_.threads()) {
        loops.set_index_type(f_, sums.partials ? loops.output_count() * loops.blocks() : 0);
        kernel.printed.needs_alignment |= left_.reads_packets() || right_.reads_packets();
    }

    void print() {
        const int64_t row_tiles = tiles_of(loops_.row_count, tile_.rows);
        const int64_t column_tiles = tiles_of(loops_.column_count, tile_.columns);
        declare_group(row_tiles, column_tiles);
        declare_thread();
        left_.declare(first_row_, batch_, thread_);
        right_.declare(first_column_, batch_, thread_);
        declare_sums();
        print_loops();
        if (!sums_.partials) store_all(has_totals() ? total_ : sum_, "");
        // So that one group multiplies while another waits. The totals of blocks do not fit into
        // the registers then; they are touched once in 256 steps.
        f_.bound(2);
        f_.launch(row_tiles * column_tiles * parts_ * loops_.batch_count, 1, tile_.threads());
    }

  private:
    int64_t thread_rows() const { return tile_.rows / tile_.thread_rows; }
    int64_t thread_columns() const { return tile_.columns / tile_.thread_columns; }
    int64_t sums_of_thread() const { return tile_.thread_rows * tile_.thread_columns; }
    bool has_totals() const {
        return arithmetic_.has_blocks && loops_.blocks() > 1 && !sums_.partials;
    }

    // Which tile the group computes: of neighbouring groups, a few rows of tiles one below the
    // other, so that what they read is near.
    void declare_group(int64_t row_tiles, int64_t column_tiles) {
        std::string tile = f_.declare("int", "group", f_.dialect().group[0]);
        std::string rest;
        const int64_t tiles = row_tiles * column_tiles;
        if (parts_ * loops_.batch_count > 1) {
            rest = f_.declare("int", "rest", text(tile, " / ", tiles));
            tile = f_.declare("int", "tile", text(tile, " % ", tiles));
        }
        int64_t band = 8;
        while (row_tiles % band != 0) band /= 2;
        const std::string row = f_.declare(
            "int", "row_tile",
            text(tile, " / ", band * column_tiles, " * ", band, " + ", tile, " % ", band));
        const std::string column =
            f_.declare("int", "column_tile", text(tile, " / ", band, " % ", column_tiles));
        first_row_ = f_.declare("first_row", text(row, " * ", tile_.rows));
        first_column_ = f_.declare("first_column", text(column, " * ", tile_.columns));
        if (parts_ > 1) part_ = f_.declare("int", "part", text(rest, " % ", parts_));
        std::string batch = "0";
        if (loops_.batch_count > 1) batch = f_.declare("batch", text(rest, " / ", parts_));
        flat_batch_ = batch;
        batch_ = f_.unflatten(batch, loops_.batch, "bcdefg");
    }

    // Where the thread's rows and columns are: a warp's threads are 4 rows of 8, as then both
    // operands are read from few banks.
    void declare_thread() {
        thread_ = f_.declare("int", "thread", f_.dialect().thread);
        std::string row = text(thread_, " / ", thread_columns());
        std::string column = text(thread_, " % ", thread_columns());
        if (thread_columns() % 8 == 0 && thread_rows() % 4 == 0 && thread_columns() > 8) {
            const int64_t warps = thread_columns() / 8;
            row = text(thread_, " / ", 32 * warps, " * 4 + ", thread_, " / 8 % 4");
            column = text(thread_, " / 32 % ", warps, " * 8 + ", thread_, " % 8");
        }
        row_ = f_.declare("int", "thread_row", row);
        column_ = f_.declare("int", "thread_column", column);
    }

    void declare_sums() {
        sum_ = f_.names.claim("sum");
        f_.code.add(text(arithmetic_.sum, " ", sum_, "[", sums_of_thread(), "];"));
        if (has_totals()) {
            total_ = f_.names.claim("total");
            f_.code.add(text(arithmetic_.sum, " ", total_, "[", sums_of_thread(), "];"));
        }
        for_each_sum([&](const std::string& i) {
            f_.code.add(text(sum_, "[", i, "] = ", arithmetic_.zero, ";"));
            if (has_totals()) f_.code.add(text(total_, "[", i, "] = ", arithmetic_.nothing, ";"));
        });
    }

    template <class Body>
    void for_each_sum(const Body& body) {
        open_unrolled("i", sums_of_thread(), body);
    }

    // A loop that the compiler unrolls: arrays that it indexes stay in registers.
    template <class Body>
    void open_unrolled(const std::string& wish, int64_t count, const Body& body) {
        const std::string i = f_.names.claim(wish);
        f_.code.add("#pragma unroll");
        f_.code.open(text("for (int ", i, " = 0; ", i, " < ", count, "; ++", i, ")"));
        body(i);
        f_.code.close();
    }

    // ----- the loops over the depth

    void print_loops() {
        const int64_t depth = loops_.depth_count;
        std::string begin = "0", end = text(depth);
        if (parts_ > 1) {
            const int64_t length = tiles_of(loops_.blocks(), parts_) * block_of_depth;
            begin = f_.declare("begin", text(part_, " * ", length));
            // The last parts may have nothing to do.
            end = f_.declare("end", text(begin, " + ", length, " < ", depth, " ? ", begin, " + ",
                                         length, " : ", depth));
            f_.code.open(text("if (", begin, " < ", depth, ")"));
        }
        left_.load(begin);
        right_.load(begin);
        left_.store("0");
        right_.store("0");
        if (parts_ > 1) f_.code.close();
        f_.code.add(std::string(f_.dialect().barrier));
        const std::string turn = f_.names.claim("turn"), k = f_.names.claim("k");
        f_.code.add(text("int ", turn, " = 0;"));
        if (sums_.partials || (arithmetic_.has_blocks && loops_.blocks() > 1)) {
            const std::string block = f_.names.claim("block");
            f_.code.open(text("for (", f_.index(), " ", block, " = ", begin, "; ", block, " < ",
                              end, "; ", block, " += ", block_of_depth, ")"));
            const std::string whole = text(block, " + ", block_of_depth);
            const std::string stop =
                f_.declare("stop", depth % block_of_depth == 0
                                       ? whole
                                       : text(whole, " < ", end, " ? ", whole, " : ", end));
            print_steps(k, block, stop, end, turn);
            end_block(block);
            f_.code.close();
        } else {
            print_steps(k, begin, end, end, turn);
        }
    }

    void print_steps(const std::string& k, const std::string& begin, const std::string& stop,
                     const std::string& end, const std::string& turn) {
        f_.code.add("#pragma unroll 1");
        f_.code.open(text("for (", f_.index(), " ", k, " = ", begin, "; ", k, " < ", stop, "; ", k,
                          " += ", tile_.depth, ")"));
        const std::string next = f_.declare("next", text(k, " + ", tile_.depth));
        const auto if_there_is_more = [&](const auto& body) {
            f_.code.open(text("if (", next, " < ", end, ")"));
            body();
            f_.code.close();
        };
        if_there_is_more([&] {
            left_.load(next);
            right_.load(next);
        });
        multiply(turn);
        f_.code.add(text(turn, " = 1 - ", turn, ";"));
        if_there_is_more([&] {
            left_.store(text(turn, " * ", left_.tile_elements()));
            right_.store(text(turn, " * ", right_.tile_elements()));
        });
        f_.code.add(std::string(f_.dialect().barrier));
        f_.code.close();
    }

    void multiply(const std::string& turn) {
        const std::string left_start =
            f_.declare("int", "left_start", text(turn, " * ", left_.tile_elements()));
        const std::string right_start =
            f_.declare("int", "right_start", text(turn, " * ", right_.tile_elements()));
        open_unrolled("d", tile_.depth, [&](const std::string& d) {
            const std::string type = arithmetic_.has_blocks ? arithmetic_.memory : arithmetic_.sum;
            const std::string a = f_.names.claim("a"), b = f_.names.claim("b");
            f_.code.add(text(type, " ", a, "[", tile_.thread_rows, "], ", b, "[",
                             tile_.thread_columns, "];"));
            left_.read(a, tile_.thread_rows, thread_rows(), row_, left_start, d);
            right_.read(b, tile_.thread_columns, thread_columns(), column_, right_start, d);
            open_unrolled("r", tile_.thread_rows, [&](const std::string& r) {
                open_unrolled("c", tile_.thread_columns, [&](const std::string& c) {
                    f_.code.add(arithmetic_.add_product(
                        text(sum_, "[", r, " * ", tile_.thread_columns, " + ", c, "]"),
                        text(a, "[", r, "]"), text(b, "[", c, "]")));
                });
            });
        });
    }

    // The sums of a block are whole: they go where they belong, and the next begin.
    void end_block(const std::string& block) {
        if (sums_.partials) store_all(sum_, text(block, " / ", block_of_depth));
        for_each_sum([&](const std::string& i) {
            if (has_totals())
                f_.code.add(
                    text(total_, "[", i, "] = ", total_, "[", i, "] + ", sum_, "[", i, "];"));
            f_.code.add(text(sum_, "[", i, "] = ", arithmetic_.zero, ";"));
        });
    }

    // ----- results

    void store_all(const std::string& sums, const std::string& block) {
        open_unrolled("r", tile_.thread_rows, [&](const std::string& r) {
            const std::string row = f_.declare(
                "row",
                text(first_row_, " + ", left_.place_of(tile_.thread_rows, thread_rows(), row_, r)));
            open_unrolled("c", tile_.thread_columns, [&](const std::string& c) {
                const std::string column = f_.declare(
                    "column",
                    text(first_column_, " + ",
                         right_.place_of(tile_.thread_columns, thread_columns(), column_, c)));
                const std::string sum =
                    text(sums, "[", r, " * ", tile_.thread_columns, " + ", c, "]");
                std::vector<std::string> inside;
                if (loops_.row_count % tile_.rows != 0)
                    inside.push_back(text(row, " < ", loops_.row_count));
                if (loops_.column_count % tile_.columns != 0)
                    inside.push_back(text(column, " < ", loops_.column_count));
                if (!inside.empty()) f_.code.open(text("if (", join(inside, " && "), ")"));
                store_one(sum, row, column, block);
                if (!inside.empty()) f_.code.close();
            });
        });
    }

    void store_one(const std::string& sum, const std::string& row, const std::string& column,
                   const std::string& block) {
        if (sums_.partials) {
            const std::string partial =
                f_.scratch_pointer("partial", arithmetic_.sum, *sums_.partials, true);
            f_.code.add(text(partial, "[((", block, " * ", loops_.batch_count, " + ", flat_batch_,
                             ") * ", loops_.row_count, " + ", row, ") * ", loops_.column_count,
                             " + ", column, "] = ", sum, ";"));
            return;
        }
        std::vector<std::string> indices = batch_;
        for (const auto& [flat, extents] :
             {std::pair(row, &loops_.rows), std::pair(column, &loops_.columns)}) {
            const std::vector<std::string> part = f_.unflatten(flat, *extents, "jklmno");
            indices.insert(indices.end(), part.begin(), part.end());
        }
        store_sum(f_, contract_, loops_, indices, sum, sums_.is_finished);
    }

    KernelText& kernel_;
    const Contract& contract_;
    const ContractLoops& loops_;
    const ContractArithmetic& arithmetic_;
    const ContractTile tile_;
    const int64_t parts_;
    const ContractSums& sums_;
    FunctionText f_;
    ContractCopies left_, right_;
    std::string first_row_, first_column_, part_, flat_batch_, thread_, row_, column_, sum_, total_;
    std::vector<std::string> batch_;
};

}  // namespace

void print_tiles(KernelText& kernel, const Contract& contract, const ContractLoops& loops,
                 const ContractArithmetic& arithmetic, const ContractPlan& plan,
                 const ContractSums& sums) {
    TilePrinter(kernel, contract, loops, arithmetic, plan, sums).print();
}

}  // namespace composit::simt
