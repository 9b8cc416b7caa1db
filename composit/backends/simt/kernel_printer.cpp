// Puts a kernel's text together: its comment, then its functions.
#include "composit/backends/simt/kernel_printer.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/simt/kernel_text.h"
#include "composit/backends/simt/unfused.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

namespace composit::simt {
namespace {

using ir::kernel::Kernel;
using ir::kernel::Program;

// "x: float32[4, 8] -> y: float32[4, 8]"
std::string types_of_parameters(const PrintedKernel& printed, const Program& program) {
    std::vector<std::string> from, to;
    for (const c_family::Parameter& parameter : printed.parameters) {
        const auto& buffer = program.buffers[static_cast<size_t>(parameter.buffers[0])];
        (parameter.is_written ? to : from)
            .push_back(text(parameter.name, ": ", buffer.dtype, "[", join(buffer.shape), "]"));
    }
    return join(from) + (from.empty() ? "-> " : " -> ") + join(to);
}

}  // namespace

Printers& printers() {
    static Printers table;
    return table;
}

std::optional<std::string> unprintable(const Kernel& kernel, const Program& program) {
    if (const auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body)) {
        for (const Kernel& inner : repeat->kernels)
            if (auto reason = unprintable(inner, program)) return reason;
        return std::nullopt;
    }
    const auto* contract = std::get_if<ir::kernel::Contract>(&kernel.body);
    if (contract && (contract->left_is_packed || contract->right_is_packed))
        return "packed operands are not read by devices";
    if (const auto* fused = std::get_if<ir::kernel::Fused>(&kernel.body)) {
        for (const ir::kernel::Member& member : fused->members)
            if (auto reason = unprintable(member.kernel, program)) return reason;
        if (!works_together(*fused, program) && !unfused(*fused, program))
            return "parts that move so are not written for devices";
    } else if (const size_t count = c_family::parameters_of(kernel, program).size();
               count > most_operands) {
        return text("it has ", count, " operands, and devices take ", most_operands);
    }
    if (!printers().has(kernel.body))
        return text(ir::kernel::kind_name(kernel), " kernels are not written for devices");
    return c_family::unprintable(kernel);
}

PrintedKernel print_kernel(const Dialect& dialect, const Kernel& kernel, const Program& program,
                           c_family::Names& file_names) {
    if (auto reason = unprintable(kernel, program))
        fail<NotSupported>("compile: the kernel ", kernel.name,
                           " cannot be compiled for a device: ", *reason);
    KernelText writer(dialect, kernel, program, file_names);
    if (printers().has(kernel.body)) printers()(writer, kernel.body);
    PrintedKernel printed = std::move(writer.printed);
    if (printed.launches.empty()) return printed;
    std::string note = kernel.comment.empty() ? kernel.name : kernel.comment;
    if (!kernel.lines.empty()) note += "  [" + join(kernel.lines) + "]";
    printed.text = comment_of_words(note) +
                   comment_of_words(types_of_parameters(printed, program)) + printed.text;
    return printed;
}

}  // namespace composit::simt
