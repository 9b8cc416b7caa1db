// The functions of a program's text that users call: their memory, and the calls of kernels.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"
#include "composit/exporters/plain/program_text.h"
#include "composit/exporters/plain/shapes.h"

namespace composit::plain {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;

// Whether its memory is one static array for each temporary.
bool ProgramText::is_of_variables(const FunctionPlan& plan) const {
    return !options_.has_workspace && !plan.memory->has_unions();
}

std::string ProgramText::structs() const {
    std::string result;
    if (!options_.has_workspace) return result;  // they stand in the functions
    for (const FunctionPlan& plan : functions_)
        if (!plan.memory->is_empty())
            result +=
                text("// What ", plan.name, " needs between its kernels: ", plan.memory->bytes(),
                     " bytes.\nstruct ", plan.name, "_memory ", plan.memory->members(""), ";\n\n");
    return result;
}

std::string ProgramText::declaration(const FunctionPlan& plan) const {
    std::vector<std::string> parameters;
    const auto add = [&](const std::vector<int>& buffers, const char* start) {
        for (const int number : buffers) {
            const auto b = static_cast<size_t>(number);
            const Buffer& buffer = plan.program.buffers[b];
            parameters.push_back(text(start, c_family::type_name(buffer.dtype), " ", plan.names[b],
                                      extents_text(buffer.shape)));
        }
    };
    add(plan.program.inputs, "const ");
    add(plan.program.outputs, "");
    if (options_.has_workspace && !plan.memory->is_empty())
        parameters.push_back("void* _workspace");
    const std::string whole =
        c_family::signature((plan.can_fault ? "int " : "void ") + plan.name, parameters);
    return whole.substr(0, whole.rfind(" {"));
}

std::string ProgramText::argument(const FunctionPlan& plan, const Parameter& parameter,
                                  int number) const {
    const auto b = static_cast<size_t>(number);
    const Buffer& buffer = plan.program.buffers[b];
    std::string name = plan.names[b];
    if (buffer.kind == BufferKind::temporary)
        name = is_of_variables(plan)    ? plan.memory->path(number)
               : options_.has_workspace ? "memory->" + plan.memory->path(number)
                                        : "memory." + plan.memory->path(number);
    const std::vector<int64_t> declared = as_declared(buffer.shape);
    if (declared == as_declared(parameter.shape)) return name;
    const std::string type =
        text(parameter.is_const ? "const " : "", c_family::type_name(buffer.dtype));
    const std::string extents = extents_text(parameter.shape);
    const std::string inner = extents.substr(extents.find(']') + 1);
    return text("(", type, inner.empty() ? "*" : " (*)" + inner, ")", name);
}

std::vector<std::string> ProgramText::call(const FunctionPlan& plan, const Step& step,
                                           const std::string& iteration) const {
    if (step.repeat != nullptr) {
        std::vector<std::string> lines = {text("for (int64_t ", iteration, " = ",
                                               step.repeat->begin, "; ", iteration, " < ",
                                               step.repeat->end, "; ++", iteration, ") {")};
        const int counter = step.repeat->counter.buffer;
        if (counter != ir::kernel::Access::position)
            lines.push_back(
                text("    ", argument(plan, {-1, "", ir::DType::int64, {1}, true, false}, counter),
                     "[0] = ", iteration, ";"));
        for (const Step& inner : step.repeated)
            for (const std::string& line : call(plan, inner, "inner_" + iteration))
                lines.push_back("    " + line);
        lines.push_back("}");
        return lines;
    }
    const PrintedFunction& printed = kernels_[step.function];
    if (printed.is_clearing) {
        const auto b = static_cast<size_t>(step.buffers[0]);
        return {text("memset(", argument(plan, printed.parameters[0], step.buffers[0]), ", 0, ",
                     plan.program.buffers[b].bytes, ");")};
    }
    std::vector<std::string> arguments;
    for (size_t p = 0; p < printed.parameters.size(); ++p)
        arguments.push_back(argument(plan, printed.parameters[p], step.buffers[p]));
    const std::string call = text(printed.name, "(", join(arguments), ")");
    if (printed.has_other_faults)
        return {text("status = ", call, ";"), "if (status != 0) return status;"};
    return {printed.can_fault ? text("if (", call, " != 0) return 1;") : call + ";"};
}

std::string ProgramText::calls() const {
    std::string result;
    for (const FunctionPlan& plan : functions_) {
        result += declaration(plan) + " {\n";
        if (plan.has_other_faults) result += "    int status = 0;\n";
        if (options_.has_workspace && !plan.memory->is_empty())
            result += text("    struct ", plan.name, "_memory* const memory = (struct ", plan.name,
                           "_memory*)_workspace;\n");
        if (is_of_variables(plan)) {
            for (const std::string& line : plan.memory->variables()) result += "    " + line + "\n";
        } else if (!options_.has_workspace && !plan.memory->is_empty()) {
            result += text("    static struct ", plan.memory->members("    "), " memory;  // ",
                           plan.memory->bytes(), " bytes\n");
        }
        std::string starts;
        for (const int number : plan.program.outputs) {
            const auto b = static_cast<size_t>(number);
            const Buffer& output = plan.program.buffers[b];
            if (output.starts_as < 0 || output.bytes == 0) continue;
            const std::string& from = plan.names[static_cast<size_t>(output.starts_as)];
            starts += text("    if ((const void*)", plan.names[b], " != (const void*)", from,
                           ") memcpy(", plan.names[b], ", ", from, ", ", output.bytes, ");\n");
        }
        std::string body;
        for (const Step& step : plan.steps)
            for (const std::string& line : call(plan, step)) body += "    " + line + "\n";
        // C has no parameters without a name.
        for (const auto* numbers : {&plan.program.inputs, &plan.program.outputs})
            for (const int number : *numbers)
                if (!c_family::has_word(starts + body, plan.names[static_cast<size_t>(number)]))
                    result += text("    (void)", plan.names[static_cast<size_t>(number)], ";\n");
        result += starts + body;
        if (plan.can_fault) result += "    return 0;\n";
        result += "}\n\n";
    }
    return result;
}

}  // namespace composit::plain
