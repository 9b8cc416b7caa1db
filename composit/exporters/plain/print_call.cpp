// Calls of procedures: a loop over the batch around one call.
#include "composit/backends/c_family/called_items.h"
#include "composit/backends/c_family/procedure_in_c.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/kernel_text.h"
#include "composit/exporters/plain/procedures.h"

#include <algorithm>
#include <utility>

namespace composit::plain {
namespace {

using c_family::LoopNest;
using ir::kernel::Access;
using ir::kernel::AccessInLoops;
using ir::kernel::Call;
using Argument = ProcedureFunction::Argument;

// The operands of a call, in the loops over its items.
class CallPrinter {
  public:
    CallPrinter(const Printing& printing, const Call& call)
        : printing_(printing),
          call_(call),
          called_(c_family::called_in(call)),
          function_(printing.procedures.function_of(call)),
          numbers_(c_family::known_numbers(call, printing.program)) {
        nest_.extents = c_family::items_of(call);
        for (const auto* operands : {&call.inputs, &call.outputs})
            for (const Call::Operand& operand : *operands) {
                Access access = operand.access;
                access.strides.resize(nest_.extents.size());
                nest_.accesses.push_back(std::move(access));
            }
        nest_ = c_family::merge_loops(std::move(nest_));
    }

    KernelText print() {
        KernelText text = printing_.begin(accesses_of(nest_));
        // Items are parts of arrays: these are rows of elements here, whatever their axes.
        for (Parameter& each : text.parameters) {
            each.shape = {ir::element_count(
                printing_.program.buffers[static_cast<size_t>(each.buffer)].shape)};
            each.is_const = !each.is_written;
        }
        indices_ = text.claim_indices(nest_.extents.size(), "ijklmn");
        std::vector<std::string> lines, arguments;
        check_extents(text, lines);
        for (const Argument& each : function_.arguments) arguments.push_back(argument(text, each));
        const std::string call = composit::text(function_.name, "(", join(arguments), ")");
        text.can_fault |= function_.can_fault;
        text.has_other_faults |= function_.has_other_faults;
        if (function_.returns_result) {
            lines.push_back(element(text, output_of(0)) + " = " + call + ";");
        } else if (!function_.can_fault) {
            lines.push_back(call + ";");
        } else if (!function_.has_other_faults) {
            lines.push_back(
                composit::text("if (", call, " != 0) return ", c_family::fault_of_index, ";"));
        } else {
            lines.push_back("const int status = " + call + ";");
            lines.emplace_back("if (status != 0) return status;");
        }
        text.code.nest(text.headers(indices_, nest_.extents), lines);
        return text;
    }

  private:
    std::string element(const KernelText& text, size_t operand) const {
        return text.element(nest_.accesses[operand], nest_.extents, indices_);
    }

    // "x", "&x[i * 6]"
    std::string pointer(const KernelText& text, size_t operand) const {
        const std::string first = element(text, operand);
        return first.ends_with("[0]") ? first.substr(0, first.size() - 3) : "&" + first;
    }

    // Of a result, or of array -1 - k: its place among the operands.
    size_t output_of(int output) const {
        const auto place = std::find(called_.outputs.begin(), called_.outputs.end(), output);
        return call_.inputs.size() + static_cast<size_t>(place - called_.outputs.begin());
    }

    std::string variable(const KernelText& text, int number) const {
        for (const auto& [parameter, input, axis] : called_.extents)
            if (parameter == number)
                return composit::text(
                    call_.inputs[static_cast<size_t>(input)].extents[called_.rows + axis]);
        const size_t input = input_of(number);
        const auto known = numbers_.find(number);
        return known == numbers_.end()
                   ? element(text, input)
                   : literal_text(text.language(), call_.inputs[input].access.dtype, known->second);
    }

    size_t input_of(int operand) const {
        const auto place = std::find(called_.operands.begin(), called_.operands.end(), operand);
        return static_cast<size_t>(place - called_.operands.begin());
    }

    std::string argument(const KernelText& text, const Argument& of) const {
        switch (of.of) {
            case Argument::Of::variable: return variable(text, of.number);
            case Argument::Of::result: return pointer(text, output_of(of.number));
            case Argument::Of::array: {
                const size_t output = output_of(-1 - of.number);
                const bool is_output = output < call_.inputs.size() + called_.outputs.size();
                return pointer(text, is_output ? output : input_of(-1 - of.number));
            }
            case Argument::Of::memory: break;
        }
        const auto& memory = printing_.procedures.memory_of(call_);
        const auto before = std::distance(memory.begin(), memory.find(of.number));
        return pointer(text,
                       call_.inputs.size() + called_.outputs.size() + static_cast<size_t>(before));
    }

    // Extents that numbers decide.
    void check_extents(KernelText& text, std::vector<std::string>& lines) const {
        const auto extents = c_family::extents_of_numbers(call_);
        if (extents.empty()) return;
        std::vector<std::string> values;
        for (size_t k = 0; k < called_.procedure.parameters; ++k)
            values.push_back(is_known(static_cast<int>(k)) ? variable(text, static_cast<int>(k))
                                                           : "");
        for (const auto& [extent, wanted] : extents) {
            const c_family::Statements printed = c_family::print_statements(
                {extent}, values, text.names.taken(), nullptr, text.spelling());
            for (const std::string& line : printed.lines) lines.push_back(line);
            lines.push_back(composit::text("if (", printed.results[0], " != ", wanted, ") return ",
                                           c_family::fault_of_others, ";"));
        }
        text.can_fault = text.has_other_faults = true;
    }

    bool is_known(int parameter) const {
        return input_of(parameter) < called_.operands.size() ||
               std::any_of(
                   called_.extents.begin(), called_.extents.end(),
                   [&](const auto& each) { return each.parameter == parameter; });
    }

    const Printing& printing_;
    const Call& call_;
    const c_family::CalledForItems& called_;
    const ProcedureFunction& function_;
    const std::map<int, ir::scalar::Bits> numbers_;  // that are known, by parameter
    LoopNest nest_;
    std::vector<std::string> indices_;
};

}  // namespace

MaybeText print_body(const Printing& printing, const Call& call) {
    if (ir::element_count(c_family::items_of(call)) == 0) return {};
    return CallPrinter(printing, call).print();
}

}  // namespace composit::plain
