#include "composit/backends/simt/contract_in_loops.h"

#include "composit/backends/simt/loops.h"
#include "composit/base/text.h"

#include <algorithm>

namespace composit::simt {
namespace {

using ir::kernel::Access;
using ir::kernel::Contract;
using ir::kernel::Extents;

// Sums that are in registers at a time: so many rows, each of two vectors of 64 bytes.
constexpr int64_t tile_rows = 6, vectors_of_row = 2, bytes_of_vector = 64;
constexpr int64_t most_rows = 120, most_columns = 128;  // of a thread's block
constexpr int64_t least_blocks = 8;                     // for the processor's cores

class Printer {
  public:
    Printer(KernelText& kernel, const Contract& contract, const ContractLoops& loops,
            const ContractArithmetic& arithmetic)
        : contract_(contract),
          loops_(loops),
          arithmetic_(arithmetic),
          f_(kernel, kernel.kernel.name),
          width_(bytes_of_vector / size_of_sum(arithmetic)),
          tile_columns_(width_ * vectors_of_row) {
        const auto up = [](int64_t count, int64_t step) { return groups_of(count, step) * step; };
        rows_ = std::min(most_rows, up(loops.row_count, tile_rows));
        columns_ = std::min(most_columns, up(loops.column_count, tile_columns_));
        while (block_count() < least_blocks && rows_ > 2 * tile_rows)
            rows_ = up(rows_ / 2, tile_rows);
        const std::string name = arithmetic.sum == "uint32_t"   ? "uint"
                                 : arithmetic.sum == "uint64_t" ? "ulong"
                                                                : arithmetic.sum;
        vector_ = text(name, width_);
        loops.set_index_type(f_, loops.output_count());
    }

    static int64_t size_of_sum(const ContractArithmetic& arithmetic) {
        return arithmetic.sum == "double" || arithmetic.sum == "uint64_t" ? 8 : 4;
    }

    void print() {
        declare_block();
        const std::string right_panel = array("right_panel", block_of_depth * columns_);
        const std::string left_panel = array("left_panel", block_of_depth * tile_rows);
        const std::string total = array("total", rows_ * columns_);
        const std::string i = f_.names.claim("i");
        f_.code.open(loop("int", i, "0", text(rows_ * columns_)));
        f_.code.add(text(total, "[", i, "] = ", arithmetic_.nothing, ";"));
        f_.code.close();
        left_ = places_of(loops_.left, loops_.rows, rows_, "left_row", row_, row_end_);
        right_ = places_of(loops_.right, loops_.columns, columns_, "right_column", column_,
                           column_end_);
        declare_depths();
        const std::string start = f_.names.claim("start");
        f_.code.open(text("for (", f_.index(), " ", start, " = 0; ", start, " < ",
                          loops_.depth_count, "; ", start, " += ", block_of_depth, ")"));
        const std::string count = f_.declare(
            "int", "count",
            loops_.depth_count % block_of_depth == 0
                ? text(block_of_depth)
                : text("(int)(", loops_.depth_count, " - ", start, " < ", block_of_depth, " ? ",
                       loops_.depth_count, " - ", start, " : ", block_of_depth, ")"));
        fill_depths(start, count);
        copy(right_, loops_.right, right_panel, columns_, columns_, column_end_, "0", start, count);
        const std::string r = f_.names.claim("r"), c = f_.names.claim("c");
        f_.code.open(text("for (int ", r, " = 0; ", r, " < ", row_end_, "; ", r, " += ", tile_rows,
                          ")"));
        copy(left_, loops_.left, left_panel, tile_rows, tile_rows, row_end_, r, start, count);
        f_.code.open(
            text("for (int ", c, " = 0; ", c, " < ", columns_, "; ", c, " += ", tile_columns_, ")"));
        print_tile(left_panel, right_panel, total, r, c, count);
        f_.code.close();
        f_.code.close();
        f_.code.close();
        store(total);
        f_.launch(block_count(), 1, 1);
    }

  private:
    int64_t block_count() const {
        return loops_.batch_count * groups_of(loops_.row_count, rows_) *
               groups_of(loops_.column_count, columns_);
    }
    static std::string loop(const std::string& type, const std::string& index,
                            std::string_view begin, std::string_view end) {
        return text("for (", type, " ", index, " = ", begin, "; ", index, " < ", end, "; ++", index,
                    ")");
    }
    std::string array(const std::string& wish, int64_t count) {
        return f_.local_array(arithmetic_.sum, wish, count, false);
    }

    // The block's first row and column, and how many it has of each.
    void declare_block() {
        const int64_t across = groups_of(loops_.column_count, columns_);
        const int64_t down = groups_of(loops_.row_count, rows_);
        const std::string group =
            open_share(f_, block_count(), 1, "block");
        const std::vector<std::string> place =
            f_.unflatten(group, {loops_.batch_count, down, across}, "bmn");
        batch_ = f_.unflatten(place[0], loops_.batch, "ghijkl");
        row_ = f_.declare("first_row", text(place[1], " * ", rows_));
        column_ = f_.declare("first_column", text(place[2], " * ", columns_));
        row_end_ = ends_at("rows", row_, rows_, loops_.row_count);
        column_end_ = ends_at("columns", column_, columns_, loops_.column_count);
    }
    std::string ends_at(const std::string& wish, const std::string& first, int64_t size,
                        int64_t all) {
        if (all % size == 0) return text(size);
        return f_.declare("int", wish, text("(int)(", all, " - ", first, " < ", size, " ? ", all,
                                            " - ", first, " : ", size, ")"));
    }

    // Where the rows of an operand lie, from the batch's place on: by a table where there are
    // several loops.
    std::string places_of(const ContractOperand& operand, const Extents& extents, int64_t most,
                          const std::string& wish, const std::string& first,
                          const std::string& end) {
        if (extents.size() < 2) return "";
        const std::string table = f_.names.claim(wish), q = f_.names.claim("q");
        f_.code.add(text(f_.index(), " ", table, "[", most, "];"));
        f_.code.open(loop("int", q, "0", end));
        const std::vector<std::string> at =
            f_.unflatten("(" + first + " + " + q + ")", extents, "uvwxyz");
        f_.code.add(text(table, "[", q, "] = ", c_family::address_text(operand.across, at), ";"));
        f_.code.close();
        return table;
    }
    // The same of the depth, for each block of it.
    void declare_depths() {
        if (loops_.depth.size() < 2) return;
        left_depth_ = f_.names.claim("left_depth");
        right_depth_ = f_.names.claim("right_depth");
        for (const std::string& table : {left_depth_, right_depth_})
            f_.code.add(text(f_.index(), " ", table, "[", block_of_depth, "];"));
    }
    void fill_depths(const std::string& start, const std::string& count) {
        if (loops_.depth.size() < 2) return;
        const std::string k = f_.names.claim("k");
        f_.code.open(loop("int", k, "0", count));
        const std::vector<std::string> at =
            f_.unflatten("(" + start + " + " + k + ")", loops_.depth, "pqrstu");
        f_.code.add(text(left_depth_, "[", k, "] = ",
                         c_family::address_text(loops_.left.depth, at), ";"));
        f_.code.add(text(right_depth_, "[", k, "] = ",
                         c_family::address_text(loops_.right.depth, at), ";"));
        f_.code.close();
    }

    // Copies `size` rows of an operand from number `from` of the block on into a panel, those of one
    // depth side by side; zeros behind the block's end.
    void copy(const std::string& table, const ContractOperand& operand, const std::string& panel,
              int64_t size, int64_t step, const std::string& end, const std::string& from,
              const std::string& start, const std::string& count) {
        const bool is_left = &operand == &loops_.left;
        const std::string& first = is_left ? row_ : column_;
        const std::string& depths = is_left ? left_depth_ : right_depth_;
        const std::string k = f_.names.claim("k"), q = f_.names.claim("q");
        const std::string inside = from == "0" ? q : text("(", from, " + ", q, ")");
        Access access = operand.batch;  // over the batch, the depth and the row as they are read
        std::vector<std::string> at = batch_;
        const auto add = [&](const Access& part, const std::string& table_name,
                             const std::string& entry, const std::string& number) {
            if (!table_name.empty()) {
                access.strides.push_back(1);
                at.push_back(text(table_name, "[", entry, "]"));
            } else if (!part.strides.empty()) {
                access.strides.push_back(part.strides[0]);
                at.push_back("(" + number + ")");
            }
        };
        add(operand.depth, depths, k, start + " + " + k);
        add(operand.across, table, inside, first + " + " + inside);
        const std::string value = text("(", arithmetic_.sum, ")", f_.element(access, at));
        const std::string to = text(panel, "[", k, " * ", step, " + ", q, "]");
        const auto print_copy = [&](const std::string& part) {
            f_.code.open(loop("int", k, "0", count));
            f_.code.open(loop("int", q, "0", part));
            f_.code.add(text(to, " = ", value, ";"));
            f_.code.close();
            if (part != text(size)) {
                f_.code.open(loop("int", q, part, text(size)));
                f_.code.add(text(to, " = 0;"));
                f_.code.close();
            }
            f_.code.close();
        };
        const int64_t all = is_left ? loops_.row_count : loops_.column_count;
        if (from == "0" ? all % size == 0 : all % tile_rows == 0) return print_copy(text(size));
        // Most are whole, and have loops of known lengths.
        const std::string part =
            f_.declare("int", "part", text(end, " - ", from, " < ", size, " ? ", end, " - ", from,
                                           " : ", size));
        f_.code.open(text("if (", part, " == ", size, ")"));
        print_copy(text(size));
        f_.code.close();
        f_.code.open("else");
        print_copy(part);
        f_.code.close();
    }

    // tile_rows x tile_columns_ sums of one block of the depth, added to `total`.
    void print_tile(const std::string& left, const std::string& right, const std::string& total,
                    const std::string& r, const std::string& c, const std::string& count) {
        std::vector<std::string> sums;
        for (int64_t q = 0; q < tile_rows * vectors_of_row; ++q) {
            sums.push_back(f_.names.claim(text("sum_", q / vectors_of_row, q % vectors_of_row)));
            f_.code.add(text(vector_, " ", sums.back(), " = (", vector_, ")(", arithmetic_.zero, ");"));
        }
        const std::string k = f_.names.claim("k");
        f_.code.open(loop("int", k, "0", count));
        std::vector<std::string> factors;
        for (int64_t v = 0; v < vectors_of_row; ++v)
            factors.push_back(
                f_.declare(vector_, text("b", v),
                           text("vload", width_, "(0, ", right, " + ", k, " * ", columns_, " + ", c,
                                " + ", v * width_, ")")));
        for (int64_t q = 0; q < tile_rows; ++q) {
            const std::string a = f_.declare(
                vector_, text("a", q), text("(", vector_, ")(", left, "[", k, " * ", tile_rows,
                                            " + ", q, "])"));
            for (int64_t v = 0; v < vectors_of_row; ++v) {
                const std::string& sum = sums[static_cast<size_t>(q * vectors_of_row + v)];
                const std::string& b = factors[static_cast<size_t>(v)];
                f_.code.add(arithmetic_.has_blocks
                                ? text(sum, " = fma(", a, ", ", b, ", ", sum, ");")
                                : text(sum, " = ", sum, " + ", a, " * ", b, ";"));
            }
        }
        f_.code.close();
        for (int64_t q = 0; q < tile_rows; ++q)
            for (int64_t v = 0; v < vectors_of_row; ++v) {
                const std::string place = text(total, " + (", r, " + ", q, ") * ", columns_, " + ",
                                               c, " + ", v * width_);
                f_.code.add(text("vstore", width_, "(vload", width_, "(0, ", place, ") + ",
                                 sums[static_cast<size_t>(q * vectors_of_row + v)], ", 0, ", place,
                                 ");"));
            }
    }

    void store(const std::string& total) {
        const std::string r = f_.names.claim("r"), c = f_.names.claim("c");
        f_.code.open(loop("int", r, "0", row_end_));
        std::vector<std::string> at = batch_;
        const auto add = [&](const std::string& first, const std::string& index,
                             const Extents& extents, const std::string& letters) {
            const auto found = f_.unflatten("(" + first + " + " + index + ")", extents, letters);
            at.insert(at.end(), found.begin(), found.end());
        };
        add(row_, r, loops_.rows, "uvwxyz");
        f_.code.open(loop("int", c, "0", column_end_));
        add(column_, c, loops_.columns, "defghi");
        store_sum(f_, contract_, loops_, at, text(total, "[", r, " * ", columns_, " + ", c, "]"),
                  true);
        f_.code.close();
        f_.code.close();
    }

    const Contract& contract_;
    const ContractLoops& loops_;
    const ContractArithmetic& arithmetic_;
    FunctionText f_;
    int64_t width_, tile_columns_, rows_ = 0, columns_ = 0;
    std::string vector_, row_, column_, row_end_, column_end_, left_, right_, left_depth_,
        right_depth_;
    std::vector<std::string> batch_;
};

}  // namespace

bool suits_loops(const ContractLoops& loops, const ContractArithmetic& arithmetic) {
    constexpr int64_t least = 4;  // rows and columns
    return arithmetic.dtype != ir::DType::boolean && loops.row_count >= least &&
           loops.column_count >= least && loops.depth_count > 0;
}

void print_contract_in_loops(KernelText& kernel, const Contract& contract,
                             const ContractLoops& loops, const ContractArithmetic& arithmetic) {
    Printer(kernel, contract, loops, arithmetic).print();
}

}  // namespace composit::simt
