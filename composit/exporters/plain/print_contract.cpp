// Contractions: sums of products side by side, of rows or columns that lie side by side in memory.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/kernel_text.h"

#include <algorithm>
#include <optional>

namespace composit::plain {
namespace {

using c_family::LoopNest;
using ir::DType;
using ir::kernel::Access;
using ir::kernel::AccessInLoops;
using ir::kernel::Contract;
using ir::kernel::Extents;

constexpr int64_t depth_of_block = 256;  // of the depth: a chain of multiply-adds
constexpr int64_t widest = 64;           // sums side by side

// Everything over the loops of batch, rows and columns (`outer`), and then the depth.
struct ContractLoops {
    Extents outer, depth, all;
    Access left, right, output;
    std::vector<Access> finish_inputs, finish_outputs;  // over outer

    explicit ContractLoops(const Contract& c) {
        const size_t b = c.batch.size(), m = c.rows.size(), n = c.columns.size();
        const auto spread = [&](const Access& access, bool has_rows, bool has_columns) {
            Access made = access;
            made.strides.assign(b + m + n, 0);
            size_t at = 0;
            for (size_t d = 0; d < b; ++d) made.strides[d] = access.strides[at++];
            if (!has_rows) at += c.depth.size();
            for (size_t d = 0; has_rows && d < m; ++d) made.strides[b + d] = access.strides[at++];
            for (size_t d = 0; has_columns && d < n; ++d)
                made.strides[b + m + d] = access.strides[at++];
            return made;
        };
        LoopNest around{ir::kernel::concatenate({c.batch, c.rows, c.columns}),
                        {c.output, spread(c.left, true, false), spread(c.right, false, true)}};
        for (const auto* accesses : {&c.finish.inputs, &c.finish.outputs})
            around.accesses.insert(around.accesses.end(), accesses->begin(), accesses->end());
        around = without_single(around);
        LoopNest inside{
            c.depth, {part_of(c.left, b + m, c.depth.size()), part_of(c.right, b, c.depth.size())}};
        inside = c_family::merge_loops(std::move(inside));
        outer = around.extents;
        depth = inside.extents;
        all = ir::kernel::concatenate({outer, depth});
        output = around.accesses[0];
        left = with_depth(around.accesses[1], inside.accesses[0]);
        right = with_depth(around.accesses[2], inside.accesses[1]);
        const auto inputs = around.accesses.begin() + 3;
        const auto outputs = inputs + static_cast<std::ptrdiff_t>(c.finish.inputs.size());
        finish_inputs.assign(inputs, outputs);
        finish_outputs.assign(outputs, around.accesses.end());
    }

    std::vector<AccessInLoops> accesses() const {
        std::vector<AccessInLoops> result = {{left, all}, {right, all}, {output, outer}};
        for (const auto* each : {&finish_inputs, &finish_outputs})
            for (const Access& access : *each) result.push_back({access, outer});
        return result;
    }

    // The loop whose sums lie side by side: where one operand and the output do, and the other
    // operand stays; where only an operand does; none.
    std::optional<size_t> side_by_side() const {
        std::optional<size_t> found;
        for (size_t d = 0; d < outer.size(); ++d) {
            const bool runs = (left.strides[d] == 1 && right.strides[d] == 0) ||
                              (left.strides[d] == 0 && right.strides[d] == 1);
            if (!runs || outer[d] < 2) continue;
            if (output.strides[d] == 1) return d;
            if (!found || outer[d] > outer[*found]) found = d;
        }
        return found;
    }

  private:
    static Access with_depth(Access access, const Access& inside) {
        access.strides.insert(access.strides.end(), inside.strides.begin(), inside.strides.end());
        return access;
    }
};

class ContractPrinter {
  public:
    ContractPrinter(const Printing& printing, const Contract& contract)
        : contract_(contract),
          loops_(contract),
          text_(printing.begin(loops_.accesses())),
          dtype_(contract.output.dtype),
          count_(ir::element_count(loops_.depth)),
          lane_loop_(loops_.side_by_side()) {
        type_ = ir::is_floating(dtype_) || dtype_ == DType::boolean ? c_family::type_name(dtype_)
                : ir::size_of(dtype_) == 8                          ? "uint64_t"
                                                                    : "uint32_t";
        zero_ = dtype_ == DType::float32   ? "0.0f"
                : dtype_ == DType::float64 ? "0.0"
                : dtype_ == DType::boolean ? "false"
                                           : "0";
    }

    KernelText print() {
        const size_t batch = loops_.outer.size();
        outer_ = text_.claim_indices(batch, "ijmnpq");
        depth_ = text_.claim_indices(loops_.depth.size(), "klrstu");
        std::vector<std::string> around;
        for (size_t d = 0; d < batch; ++d)
            if (d != lane_loop_) around.push_back(text_.header(outer_[d], loops_.outer[d]));
        text_.open(around);
        if (lane_loop_)
            print_side_by_side();
        else
            print_one();
        text_.close(around.size());
        return std::move(text_);
    }

  private:
    c_family::Lines& code() { return text_.code; }

    bool has_blocks() const { return ir::is_floating(dtype_) && count_ > depth_of_block; }

    // sum = sum + left * right, as a statement.
    std::string add_product(const std::string& sum, const std::vector<std::string>& depth) const {
        std::vector<std::string> indices = outer_;
        indices.insert(indices.end(), depth.begin(), depth.end());
        const std::string a = text_.element(loops_.left, loops_.all, indices);
        const std::string b = text_.element(loops_.right, loops_.all, indices);
        if (ir::is_floating(dtype_))
            return text(sum, " = fma_", dtype_, "(", a, ", ", b, ", ", sum, ");");
        if (dtype_ == DType::boolean) return text(sum, " = ", sum, " || (", a, " && ", b, ");");
        const auto wide = [&](const std::string& x) {
            return type_ == c_family::type_name(dtype_) ? x : converted(text_.language(), type_, x);
        };
        return text(sum, " += ", wide(a), " * ", wide(b), ";");
    }

    // The statements that give the results of a sum.
    std::vector<std::string> results(std::string sum) const {
        if (type_ != c_family::type_name(dtype_))
            sum = converted(text_.language(), c_family::type_name(dtype_), sum);
        const auto& values = contract_.finish.values;
        const std::string to = text_.element(loops_.output, loops_.outer, outer_);
        if (values.empty()) return {to + " = " + sum + ";"};
        const auto computed = text_.compute(values, loops_.finish_inputs, loops_.outer, outer_,
                                            c_family::ValueRead{"sum", sum, dtype_});
        std::vector<std::string> lines = computed.lines;
        for (size_t j = 0; j < values.size(); ++j)
            lines.push_back(
                (j == 0 ? to : text_.element(loops_.finish_outputs[j - 1], loops_.outer, outer_)) +
                " = " + computed.results[j] + ";");
        return lines;
    }

    // The loops over the depth around statements; blocks of it between those before and behind.
    template <class Body>
    void print_depth(const std::vector<std::string>& before, const std::vector<std::string>& behind,
                     const Body& body) {
        if (!has_blocks()) {
            std::vector<std::string> headers = text_.headers(depth_, loops_.depth);
            body(std::move(headers), std::vector<std::string>{});
            return;
        }
        const std::string first = text_.names.claim("first");
        code().open(text_.header(first, "0", text(count_), depth_of_block));
        for (const std::string& line : before) code().add(line);
        const bool is_one = loops_.depth.size() == 1;
        const std::string k = is_one ? depth_[0] : text_.names.claim("e");
        std::string end = text(first, " + ", depth_of_block);
        if (count_ % depth_of_block != 0) end += text(" && ", k, " < ", count_);
        std::vector<std::string> declared;
        if (!is_one) declared.push_back(text_.taken_apart(k, depth_, loops_.depth));
        body(std::vector<std::string>{text_.header(k, first, end)}, declared);
        for (const std::string& line : behind) code().add(line);
        code().close();
    }

    void print_one() {
        const std::string sum = text_.names.claim("sum");
        const std::string part = has_blocks() ? text_.names.claim("part") : sum;
        code().add(text(type_, " ", sum, " = ", has_blocks() ? "-" : "", zero_, ";"));
        print_depth({text(type_, " ", part, " = ", zero_, ";")}, {text(sum, " += ", part, ";")},
                    [&](std::vector<std::string> headers, std::vector<std::string> body) {
                        body.push_back(add_product(part, depth_));
                        code().nest(headers, body);
                    });
        for (const std::string& line : results(sum)) code().add(line);
    }

    void print_side_by_side() {
        const int64_t length = loops_.outer[*lane_loop_];
        const std::string lane = outer_[*lane_loop_];
        std::string width = text(length);
        if (length > widest) {
            const std::string start = text_.names.claim("start");
            code().open(text_.header(start, "0", text(length), widest));
            width = text(widest);
            if (length % widest != 0) {
                width = text_.names.claim("width");
                code().add(text("const ", text_.index(), " ", width, " = ", length, " - ", start,
                                " < ", widest, " ? ", length, " - ", start, " : ", widest, ";"));
            }
            outer_[*lane_loop_] = "(" + start + " + " + lane + ")";
        }
        const std::string header = text_.header(lane, "0", width);
        const std::string sums = text_.names.claim("sums");
        const std::string parts = has_blocks() ? text_.names.claim("parts") : sums;
        const int64_t room = std::min(length, widest);
        const std::string sum = sums + "[" + lane + "]", part = parts + "[" + lane + "]";
        const std::string zeros = text(type_, " ", parts, "[", room, "] = {", zero_, "};");
        if (has_blocks()) {
            code().add(text(type_, " ", sums, "[", room, "];"));
            code().nest({text_.header(lane, room)}, {text(sum, " = -", zero_, ";")});
        } else {
            code().add(zeros);
        }
        print_depth({zeros}, {header, "    " + sum + " += " + part + ";"},
                    [&](std::vector<std::string> headers, std::vector<std::string> declared) {
                        for (const std::string& line : declared) headers.push_back(line);
                        print_products(std::move(headers), declared.size(), header,
                                       add_product(part, depth_));
                    });
        code().nest({header}, results(sum));
        if (length > widest) code().close();
    }

    // ContractLoops over the depth, then declarations, then the loop over neighbours around a
    // statement.
    void print_products(std::vector<std::string> headers, size_t declarations,
                        const std::string& inner, const std::string& statement) {
        const std::vector<std::string> declared(
            headers.end() - static_cast<std::ptrdiff_t>(declarations), headers.end());
        headers.resize(headers.size() - declarations);
        if (declared.empty()) {
            headers.push_back(inner);
            code().nest(headers, {statement});
            return;
        }
        std::vector<std::string> body = declared;
        body.push_back(inner);
        body.push_back("    " + statement);
        code().nest(headers, body);
    }

    const Contract& contract_;
    ContractLoops loops_;
    KernelText text_;
    DType dtype_;
    int64_t count_;
    std::optional<size_t> lane_loop_;
    std::string type_, zero_;
    std::vector<std::string> outer_, depth_;
};

}  // namespace

MaybeText print_body(const Printing& printing, const Contract& contract) {
    if (ir::element_count(
            ir::kernel::concatenate({contract.batch, contract.rows, contract.columns})) == 0)
        return {};
    return ContractPrinter(printing, contract).print();
}

}  // namespace composit::plain
