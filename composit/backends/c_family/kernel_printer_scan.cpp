// Prints a Scan: running combinations along the last loop, in rows or in columns side by side.
#include "composit/backends/c_family/kernel_chunks.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

namespace composit::c_family {
namespace {

using ir::kernel::Access;
using ir::kernel::Combiner;
using ir::kernel::Extents;
using ir::kernel::Scan;

std::string running(Combiner combiner) {
    user_check<NotSupported>(combiner <= Combiner::minimum, "compile: scan: there is no running ",
                             name(combiner));
    return operation_of(combiner);
}

class ScanPrinter {
  public:
    ScanPrinter(KernelText& writer, const Scan& scan)
        : writer_(writer),
          operation_(running(scan.combiner)),
          value_{ReduceLoops(scan), scan.value, combining_type(scan.combiner, scan.value.dtype())} {
        work_ = 2 * static_cast<double>(ir::element_count(scan.extents));
    }

    void print() {
        writer_.printed.prelude = {"scan.h"};
        kept_ = writer_.claim_indices(value_.kept.size(), "ijklmn");
        index_ = writer_.names.claim("s");
        c_ = writer_.names.claim("c");
        const Access& output = value_.output;
        bool along_columns = value_.runs_along_columns() &&
                             output.strides[value_.kept.size() - 1] == 1 &&
                             output.strides.back() != 1;
        if (along_columns)
            print_columns();
        else
            print_rows();
    }

  private:
    void print_rows() {
        int split = choose_split(value_.kept, work_);
        writer_.printed.tasks = split < 0 ? 1 : value_.kept[static_cast<size_t>(split)];
        for (const std::string& header : loop_headers(kept_, value_.kept, split))
            writer_.code.open(header);
        std::string carry = writer_.names.claim("carry");
        writer_.code.add(text(value_.type, " ", carry, " = 0;"));
        const Access* plain = value_.plain_input();
        if (plain != nullptr && plain->strides.back() == 1) {
            Access from = *plain, to = value_.output;
            from.strides.back() = to.strides.back() = 0;
            std::vector<std::string> indices = kept_;
            indices.push_back("0");
            writer_.code.add(text("scan_row<", operation_, ">(",
                                  writer_.place(from, indices, value_.type, false), ", ",
                                  value_.ordered[0], ", ", carry, ", true, ",
                                  writer_.place(to, indices, value_.type, true), ", ",
                                  value_.output.strides.back(), ");"));
        } else {
            print_row_in_chunks(carry);
        }
        for (size_t d = 0; d < value_.kept.size(); ++d) writer_.code.close();
    }

    void print_row_in_chunks(const std::string& carry) {
        int64_t length = value_.ordered[0];
        bool is_one = length <= chunk_length;
        std::string chunk = writer_.names.claim("chunk");
        writer_.code.add(text(value_.type, " ", chunk, "[", is_one ? length : chunk_length, "];"));
        std::string count = text(length), at = c_;
        if (!is_one) {
            count = writer_.names.claim("count");
            at = text("(", index_, " + ", c_, ")");
            writer_.code.open(chunk_header(index_, length));
            writer_.code.add(text("const int64_t ", count, " = ",
                                  piece_text(length, index_, chunk_length), ";"));
        }
        print_fill(writer_, value_, text(chunk, "[", c_, "]"),
                   {text("for (int64_t ", c_, " = 0; ", c_, " < ", count, "; ++", c_, ")")}, kept_,
                   {at});
        std::vector<std::string> indices = kept_;
        indices.push_back(index_);
        Access to = value_.output;
        if (is_one) to.strides.back() = 0;
        writer_.code.add(text("scan_row<", operation_, ">(", chunk, ", ", count, ", ", carry, ", ",
                              is_one ? "true" : index_ + " == 0", ", ",
                              writer_.place(to, indices, value_.type, true), ", ",
                              value_.output.strides.back(), ");"));
        if (!is_one) writer_.code.close();
    }

    void print_columns() {
        const int64_t strip = value_.column_strip(), length = value_.kept.back();
        const std::string column = kept_.back();
        Extents tasks = value_.kept;
        tasks.back() = (length + strip - 1) / strip;
        int split = choose_split(tasks, work_);
        writer_.printed.tasks = split < 0 ? 1 : tasks[static_cast<size_t>(split)];
        std::vector<std::string> names = kept_;
        names.back() = writer_.names.claim("strip");
        for (const std::string& header : loop_headers(names, tasks, split))
            writer_.code.open(header);
        std::string width = writer_.names.claim("width"), row = writer_.names.claim("row");
        std::string carry = writer_.names.claim("carry");
        writer_.code.add(text("const int64_t ", column, " = ", names.back(), " * ", strip, ";"));
        writer_.code.add(
            text("const int64_t ", width, " = ", piece_text(length, column, strip), ";"));
        writer_.code.add(text(value_.type, " ", row, "[", strip, "], ", carry, "[", strip, "];"));
        writer_.code.open(loop_header(index_, value_.ordered[0]));
        std::vector<std::string> inside = kept_, start = kept_;
        inside.back() = text("(", column, " + ", c_, ")");
        start.push_back(index_);
        print_fill(writer_, value_, text(row, "[", c_, "]"),
                   {text("for (int64_t ", c_, " = 0; ", c_, " < ", width, "; ++", c_, ")")}, inside,
                   {index_});
        writer_.code.add(text("scan_columns<", operation_, ">(", row, ", ", width, ", ", carry,
                              ", ", index_, " == 0, ",
                              writer_.place(value_.output, start, value_.type, true), ");"));
        writer_.code.close();
        for (size_t d = 0; d < tasks.size(); ++d) writer_.code.close();
    }

    KernelText& writer_;
    std::string operation_;
    ChunkedValue value_;
    double work_ = 0;
    std::vector<std::string> kept_;
    std::string index_, c_;
};

void print_body(KernelText& writer, const Scan& scan) {
    if (ir::element_count(scan.extents) == 0) return;
    internal_check(!scan.extents.empty(), "a scan needs a loop to run along");
    ScanPrinter(writer, scan).print();
}

const bool prints_scan = printers().add<Scan, print_body>();

}  // namespace

}  // namespace composit::c_family
