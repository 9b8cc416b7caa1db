// Prints a Reduce: rows or columns of elements into the prelude's reductions, which fix the order.
#include "composit/backends/c_family/kernel_chunks.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

namespace composit::c_family {
namespace {

using ir::kernel::Access;
using ir::kernel::Combiner;
using ir::kernel::Extents;
using ir::kernel::Reduce;

class ReducePrinter {
  public:
    ReducePrinter(KernelText& writer, const Reduce& reduce)
        : writer_(writer),
          combiner_(reduce.combiner),
          value_{ReduceLoops(reduce), reduce.value,
                 combining_type(reduce.combiner, reduce.value.dtype())} {
        by_position_ = finds_position(combiner_);
        arguments_ = text("<", operation_of(combiner_), ", ", value_.type, ">");
        work_ = static_cast<double>(ir::element_count(reduce.kept)) *
                static_cast<double>(ir::element_count(reduce.reduced));
    }

    void print() {
        bool along_columns = value_.ordered_count() > 0 && value_.runs_along_columns();
        std::string file = along_columns ? "reduce_columns.h" : "reduce.h";
        writer_.printed.prelude = {by_position_ ? "reduce_position.h" : file};
        kept_ = writer_.claim_indices(value_.kept.size(), "ijklmn");
        ordered_ = writer_.claim_indices(value_.ordered.size(), "rstuvw");
        if (along_columns)
            print_columns();
        else
            print_rows();
    }

  private:
    // ----- rows: one reduction after the other

    void print_rows() {
        int split = choose_split(value_.kept, work_);
        writer_.printed.tasks = split < 0 ? 1 : value_.kept[static_cast<size_t>(split)];
        for (const std::string& header : loop_headers(kept_, value_.kept, split))
            writer_.code.open(header);
        std::string result = writer_.element(value_.output, kept_);
        const Access* plain = value_.plain_input();
        bool is_consecutive =
            plain != nullptr &&
            (value_.ordered.empty() || (value_.ordered.size() == 1 && plain->strides.back() == 1));
        if (value_.ordered_count() == 0)
            print_empty_row(result);
        else if (is_consecutive)
            print_consecutive_row(*plain, result);
        else if (value_.ordered_count() <= chunk_length)
            print_short_row(result);
        else if (value_.ordered.size() == 1)
            print_long_row(result);
        else
            print_long_nested_row(result);
        for (size_t d = 0; d < value_.kept.size(); ++d) writer_.code.close();
    }

    void print_empty_row(const std::string& result) {
        writer_.code.add(
            text(result, " = ", operation_of(combiner_), "::empty<", value_.type, ">;"));
    }

    // One reduction of `count` elements at `from`.
    void print_whole(const std::string& from, int64_t count, const std::string& result) {
        if (!by_position_) {
            writer_.code.add(text(result, " = reduce_row", "<", operation_of(combiner_), ">(", from,
                                  ", ", count, ");"));
            return;
        }
        std::string row = writer_.names.claim("first");
        writer_.code.add(text("RowPosition", arguments_, " ", row, ";"));
        writer_.code.add(text(row, ".add(", from, ", ", count, ");"));
        writer_.code.add(text(result, " = ", row, ".result();"));
    }

    void print_consecutive_row(const Access& input, const std::string& result) {
        std::vector<std::string> indices = kept_;
        int64_t count = value_.ordered_count();
        if (!by_position_ || count <= 4 * chunk_length) {
            if (!value_.ordered.empty()) indices.push_back("0");
            Access start = input;
            if (!value_.ordered.empty()) start.strides.back() = 0;
            print_whole(writer_.place(start, indices, value_.type, false), count, result);
            return;
        }
        std::string row = writer_.names.claim("first");
        indices.push_back(ordered_[0]);
        writer_.code.add(text("RowPosition", arguments_, " ", row, ";"));
        writer_.code.nest({chunk_header(ordered_[0], count)},
                          {text(row, ".add(", writer_.place(input, indices, value_.type, false),
                                ", ", piece_text(count, ordered_[0], chunk_length), ");")});
        writer_.code.add(text(result, " = ", row, ".result();"));
    }

    // All elements of the row fit into one chunk.
    void print_short_row(const std::string& result) {
        std::string chunk = writer_.names.claim("chunk");
        writer_.code.add(text(value_.type, " ", chunk, "[", value_.ordered_count(), "];"));
        Access flat;
        flat.strides = ir::row_major_strides(value_.ordered);
        print_fill(writer_, value_, text(chunk, "[", address_text(flat, ordered_), "]"),
                   loop_headers(ordered_, value_.ordered, -1), kept_, ordered_);
        print_whole(chunk, value_.ordered_count(), result);
    }

    // A longer one, when its elements are one loop.
    void print_long_row(const std::string& result) {
        std::string row = writer_.names.claim(name(combiner_));
        std::string chunk = writer_.names.claim("chunk");
        std::string count = writer_.names.claim("count");
        std::string c = writer_.names.claim("c");
        int64_t length = value_.ordered[0];
        declare_row(row, chunk);
        writer_.code.open(chunk_header(ordered_[0], length));
        writer_.code.add(text("const int64_t ", count, " = ",
                              piece_text(length, ordered_[0], chunk_length), ";"));
        print_fill(writer_, value_, text(chunk, "[", c, "]"), {count_header(c, count)}, kept_,
                   {text("(", ordered_[0], " + ", c, ")")});
        writer_.code.add(text(row, ".add(", chunk, ", ", count, ");"));
        writer_.code.close();
        writer_.code.add(text(result, " = ", row, ".result();"));
    }

    // A longer one over several loops: pieces of the innermost loop fill chunk after chunk.
    void print_long_nested_row(const std::string& result) {
        std::string row = writer_.names.claim(name(combiner_));
        std::string chunk = writer_.names.claim("chunk");
        std::string filled = writer_.names.claim("filled");
        std::string count = writer_.names.claim("count");
        std::string c = writer_.names.claim("c");
        std::string last = ordered_.back();
        int64_t length = value_.ordered.back();
        declare_row(row, chunk);
        writer_.code.add(text("int64_t ", filled, " = 0;"));
        for (size_t d = 0; d + 1 < ordered_.size(); ++d)
            writer_.code.open(loop_header(ordered_[d], value_.ordered[d]));
        writer_.code.open(text("for (int64_t ", last, " = 0, ", count, "; ", last, " < ", length,
                               "; ", last, " += ", count, ")"));
        writer_.code.add(text(count, " = ", chunk_length, " - ", filled, ";"));
        writer_.code.add(text("if (", count, " > ", length, " - ", last, ") ", count, " = ", length,
                              " - ", last, ";"));
        std::vector<std::string> ordered = ordered_;
        ordered.back() = text("(", last, " + ", c, ")");
        print_fill(writer_, value_, text(chunk, "[", filled, " + ", c, "]"),
                   {count_header(c, count)}, kept_, ordered);
        writer_.code.add(text(filled, " += ", count, ";"));
        writer_.code.add(text("if (", filled, " < ", chunk_length, ") continue;"));
        writer_.code.add(text(row, ".add(", chunk, ", ", filled, ");"));
        writer_.code.add(text(filled, " = 0;"));
        for (size_t d = 0; d < ordered_.size(); ++d) writer_.code.close();
        writer_.code.add(text(row, ".add(", chunk, ", ", filled, ");"));
        writer_.code.add(text(result, " = ", row, ".result();"));
    }

    void declare_row(const std::string& row, const std::string& chunk) {
        writer_.code.add(
            text(by_position_ ? "RowPosition" : "RowReduction", arguments_, " ", row, ";"));
        writer_.code.add(text(value_.type, " ", chunk, "[", chunk_length, "];"));
    }

    static std::string count_header(const std::string& index, const std::string& count) {
        return text("for (int64_t ", index, " = 0; ", index, " < ", count, "; ++", index, ")");
    }

    // ----- columns: neighbouring reductions side by side

    void print_columns() {
        const int64_t strip = value_.column_strip(), length = value_.kept.back();
        const std::string column = kept_.back();
        Extents tasks = value_.kept;
        tasks.back() = (length + strip - 1) / strip;
        int split = choose_split(tasks, work_);
        writer_.printed.tasks = split < 0 ? 1 : tasks[static_cast<size_t>(split)];
        std::vector<std::string> headers = loop_headers(kept_, tasks, split);
        std::string width = writer_.names.claim("width");
        bool is_one_strip = tasks.back() == 1 && split + 1 != static_cast<int>(tasks.size());
        for (size_t d = 0; d + 1 < headers.size(); ++d) writer_.code.open(headers[d]);
        std::string at = "0";
        if (!is_one_strip) {
            std::string index = writer_.names.claim("strip");
            std::vector<std::string> names = kept_;
            names.back() = index;
            writer_.code.open(loop_headers(names, tasks, split).back());
            writer_.code.add(text("const int64_t ", column, " = ", index, " * ", strip, ";"));
            at = column;
        }
        if (is_one_strip)
            writer_.code.add(text("constexpr int64_t ", width, " = ", length, ";"));
        else
            writer_.code.add(
                text("const int64_t ", width, " = ", piece_text(length, column, strip), ";"));
        print_strip(at, width, strip);
        for (size_t d = is_one_strip ? 1 : 0; d < headers.size(); ++d) writer_.code.close();
    }

    // Indices of the kept loops with the last one at `at`, or at `at` + c.
    std::vector<std::string> kept_at(const std::string& at, const std::string& c) const {
        std::vector<std::string> indices = kept_;
        indices.back() = c.empty() ? at : at == "0" ? c : "(" + at + " + " + c + ")";
        return indices;
    }

    void print_strip(const std::string& at, const std::string& width, int64_t strip) {
        std::string columns = writer_.names.claim("columns");
        std::string c = writer_.names.claim("c");
        std::string row = writer_.names.claim("row");
        writer_.code.add(text(by_position_ ? "ColumnPosition" : "ColumnReduction", arguments_, " ",
                              columns, "(", width, ");"));
        const Access* plain = value_.plain_input();
        bool is_direct = plain != nullptr && plain->strides[value_.kept.size() - 1] == 1;
        // What is long to compute is computed in one place only.
        const bool is_computed =
            !is_direct && !by_position_ && longest_chain({value_.value}) < long_chain;
        if (!is_direct && !is_computed)
            writer_.code.add(text(value_.type, " ", row, "[", strip, "];"));
        size_t loops = value_.ordered.size() - (is_direct || is_computed ? 1 : 0);
        std::vector<std::string> ordered = ordered_;
        if (is_direct) ordered.back() = "0";
        for (size_t d = 0; d < loops; ++d)
            writer_.code.open(loop_header(ordered_[d], value_.ordered[d]));
        if (is_direct) {
            Access start = *plain;
            start.strides.back() = 0;
            if (at == "0") start.strides[value_.kept.size() - 1] = 0;
            std::vector<std::string> indices = kept_at(at, "");
            indices.insert(indices.end(), ordered.begin(), ordered.end());
            writer_.code.add(text(columns, ".add(",
                                  writer_.place(start, indices, value_.type, false), ", ",
                                  value_.ordered.back(), ", ", plain->strides.back(), ");"));
        } else if (is_computed) {
            print_computed(columns, width, kept_at(at, c), c);
        } else {
            print_fill(writer_, value_, text(row, "[", c, "]"), {count_header(c, width)},
                       kept_at(at, c), ordered);
            writer_.code.add(text(columns, ".add(", row, ", 1, 0);"));
        }
        for (size_t d = 0; d < loops; ++d) writer_.code.close();
        print_strip_results(at, width, strip, columns, c);
    }

    // All rows of the innermost ordered loop, of columns whose index is `c` in `indices`.
    void print_computed(const std::string& columns, const std::string& width,
                        std::vector<std::string> indices, const std::string& c) {
        indices.insert(indices.end(), ordered_.begin(), ordered_.end());
        ComputedValues computed = writer_.compute({value_.value}, value_.inputs, indices);
        std::string value = writer_.names.claim("value");
        writer_.code.open(text("const auto ", value, " = [&](int64_t ", ordered_.back(),
                               ", int64_t ", c, ") __attribute__((always_inline)) -> ",
                               value_.type));
        for (const std::string& line : computed.lines) writer_.code.add(line);
        writer_.code.add(text("return ", computed.results[0], ";"));
        writer_.code.close(";");
        writer_.code.add(
            text(columns, ".add_computed(", value_.ordered.back(), ", ", width, ", ", value, ");"));
    }

    void print_strip_results(const std::string& at, const std::string& width, int64_t strip,
                             const std::string& columns, const std::string& c) {
        const Access& output = value_.output;
        std::string type = by_position_ ? "int64_t" : value_.type;
        if (output.strides.back() == 1 && output.dtype != ir::DType::boolean) {
            Access start = output;
            if (at == "0") start.strides.back() = 0;
            writer_.code.add(
                text(columns, ".result(", writer_.place(start, kept_at(at, ""), type, true), ");"));
            return;
        }
        std::string results = writer_.names.claim("results");
        writer_.code.add(text(type, " ", results, "[", strip, "];"));
        writer_.code.add(text(columns, ".result(", results, ");"));
        writer_.code.nest({count_header(c, width)}, {text(writer_.element(output, kept_at(at, c)),
                                                          " = ", results, "[", c, "];")});
    }

    KernelText& writer_;
    Combiner combiner_;
    ChunkedValue value_;
    bool by_position_ = false;
    std::string arguments_;
    double work_ = 0;
    std::vector<std::string> kept_, ordered_;
};

void print_body(KernelText& writer, const Reduce& reduce) {
    if (ir::element_count(reduce.kept) == 0) return;
    ReducePrinter(writer, reduce).print();
}

const bool prints_reduce = printers().add<Reduce, print_body>();

}  // namespace

}  // namespace composit::c_family
