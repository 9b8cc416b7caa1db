// Prints contractions that have loops of their own: windows of single filters, integers and bools.
#include "composit/backends/c_family/plain_products.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

namespace composit::c_family {
namespace {

using ir::kernel::Access;
using ir::kernel::Contract;
using ir::kernel::Extents;

using Groups = ContractGroups;
using Strides = std::vector<int64_t>;

// All positions in row-major order, as the texts of numbers.
std::vector<std::vector<std::string>> positions(const Extents& extents) {
    std::vector<std::vector<std::string>> all(1);
    for (int64_t extent : extents) {
        std::vector<std::vector<std::string>> longer;
        for (const std::vector<std::string>& start : all)
            for (int64_t i = 0; i < extent; ++i) {
                longer.push_back(start);
                longer.back().push_back(text(i));
            }
        all = std::move(longer);
    }
    return all;
}

// How many results of a row of windows are computed together, in vectors of 16 or 32 bytes of which
// the last one ends with the row: some results are computed twice. 0: as compilers make vectors of
// the loop, which they do well where windows lie side by side and rows are long.
int64_t windows_together(const Contract& c, const Groups& groups) {
    constexpr int64_t most_bytes = 32, long_row = 32;
    const LoopNest& columns = groups.columns;
    const int64_t count = columns.extents.back(), step = columns.accesses[0].strides.back();
    const int64_t size = ir::size_of(c.output.dtype);
    int64_t lanes = most_bytes / size;
    if (size < 4 || columns.accesses[1].strides.back() != 1) return 0;
    if (step == 1 && (count >= long_row || count % lanes == 0)) return 0;
    if (count < lanes) lanes /= 2;
    return count < lanes ? 0 : lanes;
}

Access join_strides(Access access, const std::vector<const Strides*>& parts) {
    access.strides.clear();
    for (const Strides* more : parts)
        access.strides.insert(access.strides.end(), more->begin(), more->end());
    return access;
}

std::vector<std::string> with(std::vector<std::string> a, const std::vector<std::string>& more) {
    a.insert(a.end(), more.begin(), more.end());
    return a;
}

class PlainProduct {
  public:
    PlainProduct(KernelText& writer, const Contract& c, const Groups& groups)
        : writer_(writer), c_(c), groups_(groups) {
        const LoopNest &b = groups.batch, &m = groups.rows, &n = groups.columns, &k = groups.depth;
        left_ = join_strides(
            c.left, {&b.accesses[0].strides, &m.accesses[0].strides, &k.accesses[0].strides});
        right_ = join_strides(
            c.right, {&b.accesses[1].strides, &n.accesses[0].strides, &k.accesses[1].strides});
        output_ = join_strides(
            c.output, {&b.accesses[2].strides, &m.accesses[1].strides, &n.accesses[1].strides});
        batch_ = writer.claim_indices(b.extents.size(), "bcd");
        rows_ = writer.claim_indices(m.extents.size(), "ij");
        columns_ = writer.claim_indices(n.extents.size(), "np");
        sum_ = writer.names.claim("sum");
        outer_ = ir::kernel::concatenate({b.extents, m.extents, n.extents});
        type_ = type_name(c.output.dtype);
    }

    void print() {
        const bool is_float = ir::is_floating(c_.output.dtype);
        Extents shared = outer_;  // among threads; vectors are made of whole columns
        if (is_float) shared.pop_back();
        const int split = choose_split(shared, ir::kernel::flops({"", "", {}, c_}));
        writer_.printed.tasks = split < 0 ? 1 : outer_[static_cast<size_t>(split)];
        std::vector<std::string> headers = loop_headers(names(), outer_, split);
        const int64_t lanes = is_float ? windows_together(c_, groups_) : 0;
        if (lanes > 0) headers.pop_back();
        for (const std::string& header : headers) writer_.code.open(header);
        if (lanes > 0)
            print_windows(lanes);
        else if (is_float)
            print_chain();
        else
            print_integers();
        for (size_t d = 0; d < headers.size(); ++d) writer_.code.close();
    }

  private:
    [[nodiscard]] std::vector<std::string> names() const {
        return with(with(batch_, rows_), columns_);
    }
    // The factors at a position of the depth.
    [[nodiscard]] std::string left(const std::vector<std::string>& depth) const {
        return writer_.element(left_, with(with(batch_, rows_), depth));
    }
    [[nodiscard]] std::string right(const std::vector<std::string>& depth) const {
        return writer_.element(right_, with(with(batch_, columns_), depth));
    }

    // One chain of fma, which is written out, so that the loop over columns is the innermost one.
    void print_chain() {
        writer_.printed.prelude = {"vector.h"};
        writer_.code.add(text(type_, " ", sum_, " = 0;"));
        for (const std::vector<std::string>& position : positions(groups_.depth.extents))
            writer_.code.add(
                text(sum_, " = fused(", left(position), ", ", right(position), ", ", sum_, ");"));
        print_results(sum_);
    }

    // The same chains, as many of them together as a vector has lanes.
    void print_windows(int64_t lanes) {
        writer_.printed.prelude = {"windows.h"};
        const std::string start = writer_.names.claim("start"),
                          first = writer_.names.claim("first"),
                          results = writer_.names.claim("results"), column = columns_.back();
        const int64_t count = outer_.back(), last = count - lanes;
        Lines& code = writer_.code;
        code.open(text("for (int64_t ", start, " = 0; ", start, " < ", count, "; ", start,
                       " += ", lanes, ")"));
        code.add(text("const int64_t ", first, " = ", start, " < ", last, " ? ", start, " : ", last,
                      ";"));
        code.add(text("WindowSums<", type_, ", ", lanes, ", ",
                      groups_.columns.accesses[0].strides.back(), "> ", sum_, ";"));
        columns_.back() = first;
        for (const std::vector<std::string>& position : positions(groups_.depth.extents))
            code.add(text(
                sum_, ".add(", left(position), ", ",
                writer_.place(right_, with(with(batch_, columns_), position), type_, false), ");"));
        if (c_.finish.values.empty()) {
            code.add(text(sum_, ".put(", writer_.place(output_, names(), type_, true), ");"));
        } else {
            code.add(text(type_, " ", results, "[", lanes, "];"));
            code.add(text(sum_, ".put(", results, ");"));
            code.open(text("for (int64_t ", column, " = ", first, "; ", column, " < ", first, " + ",
                           lanes, "; ++", column, ")"));
            columns_.back() = column;
            print_results(text(results, "[", column, " - ", first, "]"));
            code.close();
        }
        columns_.back() = column;
        code.close();
    }

    // Integers wrap: their sums are formed in an unsigned type of at least 32 bits, of which the
    // low ones are kept.
    void print_integers() {
        const bool is_bool = c_.output.dtype == ir::DType::boolean;
        const std::string type = is_bool                             ? type_
                                 : ir::size_of(c_.output.dtype) <= 4 ? "uint32_t"
                                                                     : "uint64_t";
        writer_.code.add(text(type, " ", sum_, " = 0;"));
        const std::vector<std::string> depth =
            writer_.claim_indices(groups_.depth.extents.size(), "kl");
        const std::string a = left(depth), w = right(depth);
        const std::string update = is_bool ? text(sum_, " |= ", a, " & ", w, ";")
                                           : text(sum_, " += static_cast<", type, ">(", a,
                                                  ") * static_cast<", type, ">(", w, ");");
        writer_.code.nest(loop_headers(depth, groups_.depth.extents, -1), {update});
        print_results(is_bool ? sum_ : text("static_cast<", type_, ">(", sum_, ")"));
    }

    // Stores the result, or what is made of it.
    void print_results(const std::string& result) {
        if (c_.finish.values.empty()) {
            writer_.code.add(writer_.element(output_, names()) + " = " + result + ";");
            return;
        }
        if (has_choice(c_.finish.values))
            writer_.printed.is_in_vectors = writer_.printed.needs_vectors = true;
        const size_t read = c_.finish.inputs.size();
        std::vector<Access> inputs;
        for (size_t k = 0; k < read; ++k) inputs.push_back(of_finish(c_.finish.inputs[k], k));
        const ComputedValues computed = writer_.compute(
            c_.finish.values, inputs, names(), ValueRead{"finished", result, c_.output.dtype});
        for (const std::string& line : computed.lines) writer_.code.add(line);
        for (size_t j = 0; j < computed.results.size(); ++j) {
            const Access to = j == 0 ? output_ : of_finish(c_.finish.outputs[j - 1], read + j - 1);
            writer_.code.add(text(writer_.element(to, names()), " = ", computed.results[j], ";"));
        }
    }
    [[nodiscard]] Access of_finish(const Access& access, size_t number) const {
        return join_strides(access, {&groups_.batch.accesses[3 + number].strides,
                                     &groups_.rows.accesses[2 + number].strides,
                                     &groups_.columns.accesses[2 + number].strides});
    }

    KernelText& writer_;
    const Contract& c_;
    const Groups& groups_;
    Access left_, right_, output_;
    std::vector<std::string> batch_, rows_, columns_;  // names of indices
    std::string sum_, type_;
    Extents outer_;
};

}  // namespace

void print_plainly(KernelText& writer, const Contract& c, const ContractGroups& groups) {
    PlainProduct(writer, c, groups).print();
}

}  // namespace composit::c_family
