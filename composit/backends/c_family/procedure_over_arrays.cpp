// Procedures of numbers over pointers and a count.
#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/procedure_lanes.h"
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/backends/c_family/procedure_variables.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

#include <algorithm>
#include <set>

namespace composit::c_family {
namespace {

using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::procedure::Variable;
using ir::scalar::Expr;
using Kind = Statement::Kind;

bool has_loop(const Procedure& procedure) {
    const auto all = ir::procedure::all_statements(procedure.body);
    return std::any_of(all.begin(), all.end(),
                       [](const Statement* statement) { return statement->kind == Kind::loop; });
}

// Names of the parameters, the pointers to results, and the count, all different.
struct ArrayNames {
    std::vector<std::string> parameters, results;
    std::string count, element;
    TakenNames taken;

    explicit ArrayNames(const Procedure& procedure) {
        (void)unique_name(procedure.name, taken);  // which the loop calls
        for (size_t i = 0; i < procedure.parameters; ++i)
            parameters.push_back(unique_name(procedure.variables[i].name, taken, true));
        for (const Variable& result : procedure.results)
            results.push_back(unique_name(result.name, taken, true));
        count = unique_name("count", taken);
        element = unique_name("i", taken);
    }
};

std::string array_head(const Procedure& procedure, const ArrayNames& names) {
    std::vector<std::string> parameters;
    for (size_t i = 0; i < procedure.parameters; ++i)
        parameters.push_back("const " + type_name(procedure.variables[i].dtype) + "* " +
                             names.parameters[i]);
    for (size_t i = 0; i < procedure.results.size(); ++i)
        parameters.push_back(type_name(procedure.results[i].dtype) + "* __restrict " +
                             names.results[i]);
    parameters.push_back("int64_t " + names.count);
    return fitting("void v" + procedure.name, parameters);
}

}  // namespace

std::string array_signature_of(const Procedure& procedure) {
    return array_head(procedure, ArrayNames(procedure));
}

std::string print_over_arrays(const Procedure& original, bool asks) {
    const Procedure procedure = without_unread(original);
    ArrayNames names(procedure);
    const std::string element = "[" + names.element + "]";
    std::vector<std::string> values;
    std::string body, in_lanes;
    const auto add = [&](const std::string& line) { body += "        " + line + "\n"; };
    if (has_loop(procedure)) {
        // Exports are to be read: they call the function.
        if (asks)
            in_lanes = print_lanes(procedure, names.parameters, names.results, names.element,
                                   names.count, names.taken);
        if (asks) add("if (" + names.element + " % 64 == 63) ::composit_stop_if_asked();");
        std::vector<std::string> arguments;
        for (const std::string& name : names.parameters) arguments.push_back(name + element);
        const std::string call = procedure.name + "(" + join(arguments) + ")";
        if (procedure.results.size() == 1) {
            values.push_back(call);
        } else {
            const std::string all = unique_name("results", names.taken);
            add("const " + result_type(procedure) + " " + all + " = " + call + ";");
            for (const Variable& result : procedure.results)
                values.push_back(all + "." + result.name);
        }
    } else {
        const std::vector<Expr> results = ir::procedure::flatten(procedure);
        const std::set<int> used = read_by(results);
        std::vector<std::string> arguments;
        for (size_t i = 0; i < procedure.parameters; ++i) {
            const std::string& pointer = names.parameters[i];
            arguments.push_back(unique_name(pointer + "_i", names.taken));
            if (used.contains(static_cast<int>(i)))
                add("const " + type_name(procedure.variables[i].dtype) + " " + arguments[i] +
                    " = " + pointer + element + ";");
        }
        const Statements printed = print_statements(results, arguments, names.taken);
        for (const std::string& line : printed.lines) add(line);
        values = printed.results;
        for (size_t i = 0; i < procedure.parameters; ++i)
            if (!used.contains(static_cast<int>(i))) names.parameters[i].clear();
    }
    for (size_t i = 0; i < values.size(); ++i)
        add(names.results[i] + element + " = " + values[i] + ";");
    const std::string begin = "int64_t " + names.element + " = 0;";
    const std::string head =
        in_lanes.empty() ? "    for (" + begin : "    " + begin + "\n" + in_lanes + "    for (;";
    return array_head(procedure, names) + " {\n" + head + " " + names.element + " < " +
           names.count + "; ++" + names.element + ") {\n" + body + "    }\n}\n";
}

}  // namespace composit::c_family
