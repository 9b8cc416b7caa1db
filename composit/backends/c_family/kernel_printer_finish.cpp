// Prints what becomes of a contraction's finished sums: a function that the prelude calls with a
// few of them at a time, while they are in the L1 cache.
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/ir/kernel/row_of_windows.h"

namespace composit::c_family {
namespace {

using ir::kernel::Access;
using ir::kernel::Contract;
using ir::kernel::Extents;

// The finish as a map that has its sums from elsewhere: the parameters of its function.
ir::kernel::Kernel without_sums(const Contract& c) {
    ir::kernel::Map map = ir::kernel::finishing_map(c);
    map.inputs.erase(map.inputs.begin());
    return {"", "", {}, map};
}

// How the indices of a group of loops follow from a flattened one: their texts, and the statement
// that declares them where there are several.
struct Indices {
    std::vector<std::string> texts;
    std::string declaration;
};

Indices indices_of(KernelText& writer, const Extents& extents, const std::string& letters,
                   const std::string& flat) {
    if (extents.size() < 2) return {std::vector(extents.size(), flat), ""};
    Indices made{writer.claim_indices(extents.size(), letters), ""};
    std::vector<std::string> parts;
    int64_t inner = ir::element_count(extents);
    for (size_t d = 0; d < extents.size(); ++d) {
        inner /= extents[d];
        std::string value = inner == 1 ? flat : text(flat, " / ", inner);
        if (d > 0) value += text(" % ", extents[d]);
        parts.push_back(text(made.texts[d], " = ", value));
    }
    made.declaration = text("const int64_t ", join(parts), ";");
    return made;
}

// The loops over the output, merged as what is read and stored here allows: access 0 is the output,
// then come the finish's inputs and its further outputs.
struct Groups {
    LoopNest batch, rows, columns;

    explicit Groups(const Contract& c) {
        const size_t b = c.batch.size(), m = c.rows.size(), n = c.columns.size();
        std::vector<const Access*> all = {&c.output};
        for (const auto* accesses : {&c.finish.inputs, &c.finish.outputs})
            for (const Access& access : *accesses) all.push_back(&access);
        const auto nest = [&all](const Extents& extents, size_t first, size_t count) {
            LoopNest part{extents, {}};
            for (const Access* access : all) {
                const auto start = access->strides.begin() + static_cast<std::ptrdiff_t>(first);
                part.accesses.push_back(*access);
                part.accesses.back().strides.assign(start,
                                                    start + static_cast<std::ptrdiff_t>(count));
            }
            return merge_loops(std::move(part));
        };
        batch = nest(c.batch, 0, b);
        rows = nest(c.rows, b, m);
        columns = nest(c.columns, b + m, n);
    }

    // Whether the columns of a part of a tile are always neighbours in the innermost loop: tiles
    // end where blocks of so many columns end.
    bool is_one_run() const {
        return columns.extents.size() < 2 || columns.extents.back() % columns_per_task == 0;
    }
};

class FinishPrinter {
  public:
    FinishPrinter(const ir::kernel::Product& product, const ir::kernel::Program& program,
                  const Names& file_names)
        : contract_(product.contract),
          sum_dtype_(product.sums),
          groups_(contract_),
          writer_(without_sums(contract_), program, file_names) {
        type_ = type_name(sum_dtype_);
        width_ = text("tile_columns<", type_, ">");
    }

    PrintedKernel print(const std::string& function) {
        print_loops();
        PrintedKernel& printed = writer_.printed;
        printed.function = function;
        printed.text = text("// What becomes of finished sums.\ntemplate <bool ", is_whole_, ">\n");
        if (printed.is_in_vectors) printed.text += "COMPOSIT_IN_VECTORS\n";
        std::vector<std::string> parameters = {text("const ", type_, "* __restrict ", sums_)};
        for (const std::string& name : {b_, row_, rows_, column_, columns_})
            parameters.push_back(uses(writer_.code.lines(), name) ? "int64_t " + name : "int64_t");
        for (const Parameter& parameter : printed.parameters)
            parameters.push_back(parameter_text(parameter, writer_.code.lines()));
        printed.text += signature("static void " + function, parameters);
        for (const std::string& line : writer_.code.lines()) printed.text += line + "\n";
        printed.text += "}\n";
        return std::move(printed);
    }

  private:
    void print_loops() {
        Lines& code = writer_.code;
        const std::string i = writer_.names.claim("i"), j = writer_.names.claim("j");
        const std::string m = writer_.names.claim("m"), count = writer_.names.claim("count");
        const Indices batch = indices_of(writer_, groups_.batch.extents, "efg", b_);
        const Indices rows = indices_of(writer_, groups_.rows.extents, "pqr", m);
        if (!batch.declaration.empty()) code.add(batch.declaration);
        code.add(
            text("const int64_t ", count, " = ", is_whole_, " ? ", width_, " : ", columns_, ";"));
        const Extents& columns = groups_.columns.extents;
        const bool is_one_run = groups_.is_one_run();
        const std::string done = is_one_run ? "" : writer_.names.claim("done");
        const std::string flat = is_one_run ? column_ : writer_.names.claim("n");
        Indices inside = indices_of(writer_, columns, "uvw", flat);
        const auto declare_columns = [&] {
            if (!inside.declaration.empty()) code.add(inside.declaration);
        };
        std::string end = count, sum = text(sums_, "[", i, " * ", width_, " + ", j, "]");
        if (is_one_run) {
            declare_columns();
        } else {  // where the runs end is the same for all rows
            end = writer_.names.claim("run");
            sum = text(sums_, "[", i, " * ", width_, " + ", done, " + ", j, "]");
            code.open(text("for (int64_t ", done, " = 0; ", done, " < ", count, ";)"));
            code.add(text("const int64_t ", flat, " = ", column_, " + ", done, ";"));
            declare_columns();
            const std::string left = text(columns.back(), " - ", inside.texts.back());
            const std::string rest = text(count, " - ", done);
            code.add(text("const int64_t ", end, " = ", is_whole_, " ? ", count, " : ", left, " < ",
                          rest, " ? ", left, " : ", rest, ";"));
        }
        code.open(header_of(i, rows_));
        if (!groups_.rows.extents.empty())
            code.add(text("const int64_t ", m, " = ", row_, " + ", i, ";"));
        if (!rows.declaration.empty()) code.add(rows.declaration);
        std::vector<std::string> indices = batch.texts;
        indices.insert(indices.end(), rows.texts.begin(), rows.texts.end());
        std::vector<std::string> body;
        if (!columns.empty()) {
            const std::string last = writer_.names.claim("at");
            body.push_back(text("const int64_t ", last, " = ", inside.texts.back(), " + ", j, ";"));
            inside.texts.back() = last;
        }
        indices.insert(indices.end(), inside.texts.begin(), inside.texts.end());
        print_body(header_of(j, end), body, indices, sum);
        code.close();
        if (!is_one_run) {
            code.add(text(done, " += ", end, ";"));
            code.close();
        }
    }

    void print_body(std::string header, std::vector<std::string> body,
                    const std::vector<std::string>& indices, const std::string& sum) {
        const auto& values = contract_.finish.values;
        const size_t inputs = contract_.finish.inputs.size();
        std::vector<Access> read;
        for (size_t k = 0; k < inputs; ++k) read.push_back(access(contract_.finish.inputs[k], k));
        const ComputedValues computed =
            writer_.compute(values, read, indices, ValueRead{"sum", sum, sum_dtype_});
        body.insert(body.end(), computed.lines.begin(), computed.lines.end());
        for (size_t j = 0; j < values.size(); ++j) {
            const Access to = j == 0 ? merged(contract_.output, 0)
                                     : access(contract_.finish.outputs[j - 1], inputs + j - 1);
            body.push_back(text(writer_.element(to, indices), " = ", computed.results[j], ";"));
        }
        const bool is_long = longest_chain(values) >= long_chain;
        if (is_long || has_choice(values))
            writer_.printed.is_in_vectors = writer_.printed.needs_vectors = true;
        if (is_long) header = "COMPOSIT_IN_TURNS " + header;
        if (writer_.printed.is_any_order) header = "COMPOSIT_ANY_ORDER " + header;
        writer_.code.nest({header}, body);
    }

    static std::string header_of(const std::string& index, const std::string& end) {
        return text("for (int64_t ", index, " = 0; ", index, " < ", end, "; ++", index, ")");
    }

    // An access with its strides over the merged loops.
    Access merged(Access access, size_t number) const {
        access.strides = ir::kernel::concatenate({groups_.batch.accesses[number].strides,
                                                  groups_.rows.accesses[number].strides,
                                                  groups_.columns.accesses[number].strides});
        return access;
    }
    Access access(const Access& of_finish, size_t number) const {
        return merged(of_finish, 1 + number);
    }

    const Contract& contract_;
    const ir::DType sum_dtype_;
    Groups groups_;
    KernelText writer_;
    std::string claim(const char* wish) { return writer_.names.claim(wish); }
    const std::string sums_ = claim("sums"), b_ = claim("b"), row_ = claim("row"),
                      rows_ = claim("rows"), column_ = claim("column"), columns_ = claim("columns"),
                      is_whole_ = claim("is_whole");
    std::string type_, width_;
};

// How far the operand is that lies like the output, so that its elements are of the same number:
// what a residual adds. "0": there is none.
std::string fetched_text(const KernelText& writer, const Contract& c) {
    for (const Access& input : c.finish.inputs)
        if (input.buffer != Access::position && input.strides == c.output.strides &&
            ir::size_of(input.dtype) == ir::size_of(c.output.dtype)) {
            Access from = input, to = c.output;
            from.strides.clear(), to.strides.clear();
            const auto address = [&](const Access& access, bool is_written) {
                return text("reinterpret_cast<intptr_t>(",
                            writer.place(access, {}, type_name(access.dtype), is_written), ")");
            };
            return text(address(from, false), " - ", address(to, true));
        }
    return "0";
}

}  // namespace

bool is_finished_in_tiles(const ir::kernel::Product& product) {
    const Contract& c = product.contract;
    if (c.finish.values.empty()) return false;
    if (c.left.dtype != product.sums) return true;
    return ir::is_floating(product.sums) && !ir::kernel::is_row_of_windows(c);
}

PrintedKernel print_finish(const ir::kernel::Product& product, const std::string& function,
                           const ir::kernel::Program& program, const Names& file_names) {
    return FinishPrinter(product, program, file_names).print(function);
}

std::string declare_finish(KernelText& writer, const ir::kernel::Product& product) {
    if (writer.finish == nullptr) return "";
    const PrintedKernel& finish = *writer.finish;
    const Contract& contract = product.contract;
    const std::string type = type_name(product.sums);
    const auto claim = [&](const char* wish) { return writer.names.claim(wish); };
    const std::string operands = claim("operands"), name = claim("finish"), at = claim("at"),
                      is_whole = claim("is_whole"), columns = claim("columns");
    std::vector<std::string> pointers, arguments = {claim("sums"), claim("b"),      claim("row"),
                                                    claim("rows"), claim("column"), columns};
    std::vector<std::string> parameters = {text("const void* const* ", at),
                                           text("const ", type, "* ", arguments[0])};
    for (size_t a = 1; a < arguments.size(); ++a) parameters.push_back("int64_t " + arguments[a]);
    for (const Parameter& parameter : finish.parameters) {
        Access access;
        access.buffer = parameter.buffers[0];
        const std::string place = text(at, "[", pointers.size(), "]");
        const std::string target = type_name(parameter.dtype);
        arguments.push_back(parameter.is_written
                                ? text("static_cast<", target, "*>(const_cast<void*>(", place, "))")
                                : text("static_cast<const ", target, "*>(", place, ")"));
        pointers.push_back(writer.pointer(access));
    }
    Lines& code = writer.code;
    code.add(text("const void* const ", operands, "[] = {", join(pointers), "};"));
    code.add(text("const Finish<", type, "> ", name, " = {[](", join(parameters), ") {"));
    const std::string width = text("tile_columns<", type, ">");
    std::string condition = text(columns, " == ", width);
    if (const Groups groups(contract); !groups.is_one_run()) {
        const int64_t run = groups.columns.extents.back();
        condition += text(" && ", arguments[4], " % ", run, " <= ", run, " - ", width);
    }
    code.add(text("    const bool ", is_whole, " = ", condition, ";"));
    code.add(
        text("    (", is_whole, " ? ", finish.function, "<true> : ", finish.function, "<false>)("));
    code.add(text("        ", join(arguments), ");"));
    code.add(text("}, ", operands, ", ", fetched_text(writer, contract), "};"));
    writer.printed.is_any_order |= finish.is_any_order;
    writer.printed.needs_vectors |= finish.needs_vectors;
    return name;
}

}  // namespace composit::c_family
