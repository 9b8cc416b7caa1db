// Puts a kernel's function together: comment, signature, body.
#include "composit/backends/c_family/kernel_printer.h"

#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/kernel/row_of_windows.h"

#include <algorithm>
#include <type_traits>

namespace composit::c_family {
namespace {

using ir::DType;
using ir::kernel::Buffer;
using ir::kernel::Kernel;
using ir::kernel::Program;

constexpr size_t line_length = 100;

bool is_printable(DType dtype) { return !ir::is_complex(dtype) && !ir::is_short_float(dtype); }

// "float32[4, 8]"
std::string buffer_type(const Buffer& buffer) {
    return text(buffer.dtype, "[", join(buffer.shape), "]");
}

// "x: float32[4, 8], w: float32[8] -> y: float32[4, 8]"
std::string types_text(const PrintedKernel& printed, const Program& program) {
    std::vector<std::string> from, to;
    for (const Parameter& parameter : printed.parameters) {
        const Buffer& buffer = program.buffers[static_cast<size_t>(parameter.buffers[0])];
        std::string type = parameter.name + ": " + buffer_type(buffer);
        (parameter.is_written ? to : from).push_back(type);
    }
    return join(from) + (from.empty() ? "-> " : " -> ") + join(to);
}

}  // namespace

std::string signature(const std::string& start, const std::vector<std::string>& parameters) {
    std::string result, line = start + "(";
    const std::string margin(line.size(), ' ');
    for (size_t k = 0; k < parameters.size(); ++k) {
        std::string piece = parameters[k] + (k + 1 < parameters.size() ? "," : ") {");
        bool is_first = k == 0;
        if (!is_first && line.size() + 1 + piece.size() > line_length) {
            result += line + "\n";
            line = margin + piece;
        } else {
            line += (is_first ? "" : " ") + piece;
        }
    }
    if (parameters.empty()) line += ") {";
    return result + line + "\n";
}

bool uses(const std::vector<std::string>& lines, const std::string& word) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return has_word(line, word); });
}

std::string parameter_text(const Parameter& parameter, const std::vector<std::string>& body) {
    return text(parameter.is_written ? "" : "const ", type_name(parameter.dtype), "*",
                parameter.may_overlap ? "" : " __restrict",
                uses(body, parameter.name) ? " " + parameter.name : "");
}

namespace {

// Parameters that the body does not need, such as what an empty sum is over, have no name.
std::vector<std::string> parameter_texts(const PrintedKernel& printed,
                                         const std::vector<std::string>& body) {
    std::vector<std::string> texts;
    if (printed.tasks > 1) texts = {"int64_t begin", "int64_t end"};
    for (const Parameter& parameter : printed.parameters)
        texts.push_back(parameter_text(parameter, body));
    if (!printed.scratch_bytes.empty()) texts.push_back("void* scratch");
    return texts;
}

}  // namespace

std::optional<std::string> unprintable(const Kernel& kernel) {
    if (std::holds_alternative<ir::kernel::Foreign>(kernel.body) ||
        std::holds_alternative<ir::kernel::Call>(kernel.body))
        return std::nullopt;  // no text
    auto refuse = [](DType dtype) { return text("C++ kernels for ", dtype, " are not built yet"); };
    for (const auto& accesses :
         {ir::kernel::accesses_read(kernel), ir::kernel::accesses_written(kernel)})
        for (const auto& moved : accesses)
            if (!is_printable(moved.access.dtype)) return refuse(moved.access.dtype);
    for (const auto& expr : ir::scalar::all_expressions(ir::kernel::bodies(kernel))) {
        if (!is_printable(expr.dtype())) return refuse(expr.dtype());
        if (expr.op() != ir::scalar::Op::call) continue;
        std::vector<DType> operands;
        for (const auto& operand : expr.operands()) operands.push_back(operand.dtype());
        for (DType dtype : ir::scalar::specialise(expr.row(), operands).signature.operands)
            if (!is_printable(dtype)) return refuse(dtype);
    }
    return std::nullopt;
}

Printers& printers() {
    static Printers table;
    return table;
}

PrintedKernel print_kernel(const Kernel& kernel, const Program& program, Names& file_names) {
    if (auto reason = unprintable(kernel))
        fail<NotSupported>("compile: the kernel ", kernel.name, " cannot be compiled: ", *reason);
    std::string function = file_names.claim(kernel.name);
    const auto* fused = std::get_if<ir::kernel::Fused>(&kernel.body);
    std::vector<PrintedKernel> members;
    if (fused != nullptr)
        for (const auto& member : fused->members)
            members.push_back(print_kernel(member.kernel, program, file_names));
    const auto* contract = std::get_if<ir::kernel::Contract>(&kernel.body);
    if (contract != nullptr && !contract->finish.values.empty() &&
        ir::is_floating(contract->output.dtype) && !ir::kernel::is_row_of_windows(*contract))
        members.push_back(
            print_finish(*contract, file_names.claim(function + "_finish"), program, file_names));
    KernelText writer(kernel, program, file_names);
    if (fused != nullptr) {
        print_fused(writer, *fused, program, members);
    } else if (contract != nullptr) {
        print_contract(writer, *contract, members.empty() ? nullptr : members.data());
    } else if (printers().has(kernel.body)) {
        printers()(writer, kernel.body);
    }
    PrintedKernel printed = std::move(writer.printed);
    printed.function = function;
    if (printed.tasks == 0) return printed;
    std::string note = kernel.comment.empty() ? kernel.name : kernel.comment;
    if (!kernel.lines.empty()) note += "  [" + join(kernel.lines) + "]";
    for (const PrintedKernel& member : members) printed.text += member.text + "\n";
    printed.text += comment_of_words(note) + comment_of_words(types_text(printed, program));
    if (printed.is_in_vectors) printed.text += "COMPOSIT_IN_VECTORS\n";
    printed.text +=
        signature((printed.can_fault ? "static IndexFault " : "static void ") + function,
                  parameter_texts(printed, writer.code.lines()));
    for (const std::string& line : writer.code.lines()) printed.text += line + "\n";
    printed.text += "}\n";
    return printed;
}

}  // namespace composit::c_family
