// Heads of the functions that procedures become.
#include "composit/backends/c_family/procedure_heads.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

#include <algorithm>

namespace composit::c_family {

using ir::procedure::ArrayVariable;
using ir::procedure::Procedure;
using ir::procedure::Variable;

std::vector<int> head_of(const Procedure& procedure) {
    std::vector<int> head = procedure.head;
    if (!head.empty()) return head;
    for (size_t i = 0; i < procedure.parameters; ++i) head.push_back(static_cast<int>(i));
    return head;
}

// A function's head, on more lines where one is too long.
std::string fitting(const std::string& head, const std::vector<std::string>& parameters) {
    const std::string line = head + "(" + join(parameters) + ")";
    if (line.size() + 2 <= longest_line) return line;
    std::string out = head + "(";
    for (size_t i = 0; i < parameters.size(); ++i) {
        const std::string next = parameters[i] + (i + 1 < parameters.size() ? "," : ") {");
        const size_t width = out.size() - (out.rfind('\n') + 1);
        const bool fits = width + 1 + next.size() <= longest_line;
        out += (i == 0 && fits ? "" : fits ? " " : "\n        ") + next;
    }
    return out.substr(0, out.size() - 2);
}

Procedure with_names(Procedure procedure) {
    TakenNames functions, members;
    procedure.name = unique_name(procedure.name, functions);
    for (Variable& result : procedure.results) result.name = unique_name(result.name, members);
    return procedure;
}

std::string result_type(const Procedure& procedure) {
    if (procedure.results.empty()) return "void";
    if (procedure.results.size() == 1) return type_name(procedure.results[0].dtype);
    const bool is_single =
        std::any_of(procedure.results.begin(), procedure.results.end(),
                    [](const Variable& result) { return result.dtype == ir::DType::float32; });
    return procedure.name + (is_single ? "_results_float" : "_results");
}

std::string function_head(const Procedure& procedure, const std::vector<std::string>& names,
                          const std::vector<std::string>& arrays) {
    std::vector<std::string> parameters;
    const auto with_name = [](const std::string& type, const std::string& name) {
        return type + (name.empty() ? "" : " " + name);
    };
    for (const int each : head_of(procedure)) {
        if (each >= 0) {
            const auto i = static_cast<size_t>(each);
            parameters.push_back(with_name(type_name(procedure.variables[i].dtype), names[i]));
            continue;
        }
        const auto i = static_cast<size_t>(-1 - each);
        parameters.push_back(
            with_name("const " + type_name(procedure.arrays[i].dtype) + "*", arrays[i]));
    }
    for (const int each : procedure.arrays_of(ArrayVariable::Role::output)) {
        const auto i = static_cast<size_t>(each);
        parameters.push_back(
            with_name(type_name(procedure.arrays[i].dtype) + "* __restrict", arrays[i]));
    }
    return fitting(result_type(procedure) + " " + procedure.name, parameters);
}

std::string signature_of(const Procedure& procedure) {
    TakenNames taken;
    std::vector<std::string> names, arrays;
    for (const Variable& variable : procedure.variables)
        names.push_back(unique_name(variable.name, taken, true));
    for (const ArrayVariable& array : procedure.arrays)
        arrays.push_back(unique_name(array.name, taken, true));
    return function_head(with_names(procedure), names, arrays);
}

std::string results_struct(const Procedure& procedure) {
    if (procedure.results.size() <= 1) return "";
    std::string out = "struct " + result_type(procedure) + " {\n";
    for (const Variable& result : procedure.results)
        out += "    " + type_name(result.dtype) + " " + result.name + ";\n";
    return out + "};\n";
}

}  // namespace composit::c_family
