// Files of procedures: what they call first, then the functions, then how they are reached.
#include "composit/backends/c_family/procedure_file.h"

#include "composit/backends/c_family/kernel_module.h"
#include "composit/backends/c_family/line_breaks.h"
#include "composit/backends/c_family/procedure_extremes.h"
#include "composit/backends/c_family/procedure_heads.h"
#include "composit/backends/c_family/procedure_idioms.h"
#include "composit/backends/c_family/procedure_memory.h"
#include "composit/backends/c_family/procedure_printer.h"
#include "composit/backends/c_family/procedure_runs.h"
#include "composit/backends/c_family/procedure_selfcheck.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/ir/procedure/carried_values.h"
#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/idle_zeros.h"
#include "composit/ir/procedure/iterations.h"
#include "composit/ir/procedure/pairs_once.h"
#include "composit/ir/procedure/states_kept.h"
#include "composit/ir/procedure/tapes_in_arrays.h"

#include <algorithm>
#include <set>

namespace composit::c_family {
namespace {

using ir::DType;
using ir::procedure::Procedure;
using ir::procedure::Statement;
using ir::scalar::Expr;

std::vector<Procedure> all_of(const std::vector<ProcedureFamily>& families) {
    std::vector<Procedure> all;
    for (const ProcedureFamily& family : families) {
        all.push_back(family.value);
        all.insert(all.end(), family.derivatives.begin(), family.derivatives.end());
    }
    return all;
}

std::vector<ProcedureFamily> all_with_names(std::vector<ProcedureFamily> families) {
    for (ProcedureFamily& family : families) {
        family.value = with_names(std::move(family.value));
        for (Procedure& each : family.derivatives) each = with_names(std::move(each));
    }
    return families;
}

bool has_any(const std::vector<Procedure>& procedures, Statement::Kind kind) {
    return std::any_of(procedures.begin(), procedures.end(), [kind](const Procedure& procedure) {
        const auto all = ir::procedure::all_statements(procedure.body);
        return std::any_of(all.begin(), all.end(),
                           [kind](const Statement* statement) { return statement->kind == kind; });
    });
}

bool has_assertion(const std::vector<Procedure>& procedures) {
    return has_any(procedures, Statement::Kind::expect);
}

bool has_arrays(const Procedure& procedure) { return !procedure.arrays.empty(); }

bool any_arrays(const std::vector<Procedure>& procedures) {
    return std::any_of(procedures.begin(), procedures.end(), has_arrays);
}

bool says(const std::string& code, std::string_view word) {
    return code.find(word) != std::string::npos;
}

// Whether it looks at places within arrays, which may be gone: of constants, say.
bool says_places(const std::string& code) {
    return says(code, "checked_index(") || says(code, "checked_extent(") ||
           says(code, "wrapped_index(");
}

// The headers that `code` needs beside <cstdint>; <vector> takes longer to compile than most
// functions.
std::string headers_of(const std::string& code) {
    const bool has_utility = says(code, "std::swap");
    return std::string(has_utility ? "#include <utility>\n" : "") +
           (says(code, "std::vector") ? "#include <vector>\n" : "");
}

// What the functions, whose text is `own`, call, in a namespace without a name.
std::string support(const std::vector<Procedure>& procedures, const std::string& own,
                    const CalledFunctions& called, bool throws, LoopQuestion question,
                    std::vector<Expr> expressions = {}) {
    const std::string code = called.text() + own;
    for (const Procedure& procedure : procedures)
        for (const Expr& expr : expressions_of(without_unread(procedure)))
            expressions.push_back(expr);
    std::string out = zeros_pragma(expressions) + "namespace {\n\n";
    out += std::string(scalar_prelude()) + "\n";
    if (any_arrays(procedures) || says_places(code))
        out += array_functions(throws, says(code, "std::vector")) + run_functions(throws);
    if (says(code, "room_for<")) out += room_function();
    const bool takes = has_any(procedures, Statement::Kind::take) || says(code, "logged(");
    if ((takes && throws) || says(code, "fetch_ahead(")) out += fetching_function();
    if (takes) out += taking_functions(throws);
    if (says(code, "_in_order(")) out += functions_in_order();
    if (says(code, "add_to_rounded")) out += rounded_addition();
    if (says(code, "greater_of(") || says(code, "lesser_of(")) out += extreme_functions();
    if (says(code, "zero_unless(") || says(code, "zero_if(")) out += zero_choices();
    if (says(code, "taken(")) out += exchange_function();
    if (says(code, "_elements(")) out += element_functions();
    if (says(code, "scaled_slope(") || says(code, "unless_zero(") ||
        says(code, "product_or_zero(") || says(code, "power_slope(") ||
        says(code, "slope_of_power_"))
        out += slope_functions();
    if (says(code, "vector_float64(")) out += vector_conversion();
    const std::string tables = print_tables(expressions);
    if (!tables.empty()) out += tables + "\n";
    for (const ir::scalar::Specialisation* used : functions_used(expressions))
        out += print_function(*used, question) + "\n";
    for (const DType dtype : {DType::float32, DType::float64})
        if (says(code, text("power_", dtype, "(")) &&
            (says(code, text("slope_of_power_", dtype, "(")) || says(code, "power_slope(")))
            out += power_slope_function(dtype);
    for (const bool is_largest : {true, false}) {
        const std::string name = is_largest ? "largest" : "least";
        if (!says(code, name + "(") && !says(code, name + "_vjp(")) continue;
        for (const ir::scalar::Specialisation* used : functions_used(expressions))
            for (const DType dtype : {DType::float32, DType::float64})
                if (used->symbol == text(is_largest ? "maximum_" : "minimum_", dtype))
                    out += values_extreme_functions(dtype, is_largest);
        out += values_extreme_templates(is_largest);
    }
    return out + called.text() + "}  // namespace\n\n";
}

std::string functions(const std::vector<Procedure>& procedures, CalledFunctions& called,
                      bool asks = false) {
    std::string out;
    for (const Procedure& procedure : procedures)
        out += print_procedure(procedure, called, asks) + "\n" +
               (has_arrays(procedure) ? "" : print_over_arrays(procedure, asks) + "\n");
    return out;
}

std::string comment(const std::string& name, const std::vector<ProcedureFamily>& families) {
    std::vector<std::string> names;
    for (const ProcedureFamily& family : families)
        if (std::find(names.begin(), names.end(), family.value.name) == names.end())
            names.push_back(family.value.name);
    const Procedure& first = families[0].value;
    return comment_line(join(names) + " and derivatives, written by composit from " +
                        in_comment(first.file) + ".") +
           comment_line("Compile: c++ -O3 -std=c++17 -fno-math-errno -fno-trapping-math -c " +
                        name + ".cpp");
}

std::string slot(const char* array, size_t i, DType dtype) {
    const char* member = dtype == DType::boolean   ? "as_boolean"
                         : dtype == DType::int64   ? "as_int64"
                         : dtype == DType::float32 ? "as_float32"
                                                   : "as_float64";
    return text(array, "[", i, "].", member);
}

// int run_N(const Slot* in, Slot* out, void* const* arrays): inputs, then outputs; 0, or the line
// of this text whose assertion does not hold, or minus that of an extent that is negative; -1: no
// memory.
std::string run_function(const Procedure& procedure, size_t number) {
    using Role = ir::procedure::ArrayVariable::Role;
    std::vector<int> order = procedure.arrays_of(Role::input);
    const std::vector<int> outputs = procedure.arrays_of(Role::output);
    order.insert(order.end(), outputs.begin(), outputs.end());
    const auto pointer = [&](int array, const char* qualifier) {
        const auto place = std::find(order.begin(), order.end(), array) - order.begin();
        const DType dtype = procedure.arrays[static_cast<size_t>(array)].dtype;
        return text("static_cast<", qualifier, type_name(dtype), "*>(arrays[", place, "])");
    };
    std::vector<std::string> arguments;
    for (const int each : head_of(procedure)) {
        if (each < 0)
            arguments.push_back(pointer(-1 - each, "const "));
        else
            arguments.push_back(slot("in", static_cast<size_t>(each),
                                     procedure.variables[static_cast<size_t>(each)].dtype));
    }
    for (const int each : outputs) arguments.push_back(pointer(each, ""));
    // Whatever it is called: its own names may be its caller's, or those of C's library.
    const std::string call = "::kernels::" + procedure.name + "(" + join(arguments) + ");\n";
    std::string out = text("int run_", number, "(const Slot* in, Slot* out, void* const* arrays)",
                           " {\n    try {\n        (void)in;\n        (void)out;\n        ");
    if (procedure.results.empty()) {
        out += call;
    } else if (procedure.results.size() == 1) {
        out += slot("out", 0, procedure.results[0].dtype) + " = " + call;
    } else {
        out += "const auto results = " + call;
        for (size_t i = 0; i < procedure.results.size(); ++i)
            out += "        " + slot("out", i, procedure.results[i].dtype) + " = results." +
                   procedure.results[i].name + ";\n";
    }
    return out +
           "        return 0;\n    } catch (int line) {\n        return line;\n"
           "    } catch (...) {\n        return -1;\n    }\n}\n";
}

// What loops ask, now and then. The loader says whom.
const char* const asking =
    "extern \"C\" {\nbool (*composit_is_asked_to_stop)() = nullptr;\n}\n\n"
    "namespace {\n\nvoid composit_stop_if_asked() {\n"
    "    if (composit_is_asked_to_stop && composit_is_asked_to_stop()) throw INT32_MIN;\n}\n\n"
    "}  // namespace\n\n";

// clang takes elements of a std::vector for calls that && would leave out.
std::string bits_pragma(const std::string& code) {
    if (!says(code, " & ") || !says(code, "std::vector")) return "";
    return "#if defined(__has_warning)\n#if __has_warning(\"-Wbitwise-instead-of-logical\")\n"
           "#pragma clang diagnostic ignored \"-Wbitwise-instead-of-logical\"\n#endif\n#endif\n";
}

// Places and extents are int64_t, as in the header; those of a std::vector are not.
std::string signs_pragma(const std::string& code) {
    if (!says(code, "std::vector")) return "";
    return "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Wsign-conversion\"\n#endif\n";
}

}  // namespace

std::string assertions_pragma(const std::string& code) {
    if (code.find("assert(") == std::string::npos) return "";
    std::string out = "#ifdef NDEBUG\n";
    for (const char* what : {"parameter", "variable", "but-set-variable", "function"})
        out += text("#pragma GCC diagnostic ignored \"-Wunused-", what, "\"\n");
    return out + "#endif\n";
}

ProcedureFile print_file(const std::string& name, const std::vector<ProcedureFamily>& given) {
    internal_check(!given.empty(), "a file of no procedures");
    const std::vector<ProcedureFamily> families = all_with_names(given);
    const std::string space = namespace_name(name);
    std::vector<Procedure> all = all_of(families);
    for (Procedure& each : all) each = as_read(std::move(each));
    std::vector<Expr> extents;  // which selfchecks compute
    for (const Procedure& procedure : all)
        for (const auto& array : procedure.arrays)
            if (array.role == ir::procedure::ArrayVariable::Role::output)
                extents.insert(extents.end(), array.shape.begin(), array.shape.end());
    ProcedureFile out;
    out.header = comment(name, families) + "#pragma once\n\n#include <cstdint>\n\nnamespace " +
                 space + " {\n\n";
    out.source = comment(name, families) + "#include \"" + name + ".hpp\"\n\n";
    CalledFunctions called(names_of(all));
    const std::string own = functions(all, called), text = called.text() + own;
    if (any_arrays(all) || has_assertion(all) || says_places(text))
        out.source += "#include <cassert>\n";
    std::string selfchecks;
    for (const ProcedureFamily& family : families)
        if (has_selfcheck(family)) selfchecks += print_selfcheck(space, family);
    if (says(text + selfchecks, "size_t")) out.source += "#include <cstddef>\n";
    out.source += "#include <cstdint>\n" + headers_of(text + selfchecks) + "\n" +
                  exactness_pragmas(optimisation_of_statements) + bits_pragma(text) +
                  signs_pragma(text + selfchecks) + assertions_pragma(text) + "\n" +
                  support(all, own, called, false, LoopQuestion::none, extents) + "namespace " +
                  space + " {\n\n" + own;
    std::set<std::string> structs;  // in double and in float, one where neither is in the results
    for (const Procedure& procedure : all) {
        const std::string own = results_struct(procedure);
        out.header += (structs.insert(own).second ? own : "") + signature_of(procedure) + ";\n";
        if (!has_arrays(procedure))
            out.header += "// The same for each element.\n" + array_signature_of(procedure) + ";\n";
        out.header += "\n";
    }
    for (const ProcedureFamily& family : families)
        if (has_selfcheck(family)) out.header += declare_selfcheck(family);
    out.source += selfchecks;
    out.header += "}  // namespace " + space + "\n";
    out.source += "}  // namespace " + space + "\n";
    out.header = in_columns(out.header);
    out.source = in_columns(out.source);
    return out;
}

std::string print_functions(const std::vector<Procedure>& given) {
    std::vector<Procedure> procedures = given;
    for (Procedure& each : procedures) each = as_read(with_names(std::move(each)));
    CalledFunctions called(names_of(procedures));
    std::string code;
    for (const Procedure& procedure : procedures)
        code += results_struct(procedure) + print_procedure(procedure, called, false) + "\n";
    return in_columns(support(procedures, code, called, false, LoopQuestion::none) + code);
}

namespace {

// What runs fastest, where nobody reads it.
Procedure as_loaded(Procedure procedure) {
    using namespace ir::procedure;
    procedure = with_rows_alive(with_tapes_in_arrays(std::move(procedure)));
    procedure = with_borders_filled(without_idle_zeros(std::move(procedure), false));
    procedure = with_states_kept(with_exchanges(std::move(procedure)));
    procedure = with_indices_ahead(with_assertions_ahead(std::move(procedure)));
    procedure = with_elements_written_once(std::move(procedure));
    procedure = with_columns_apart(with_strides_apart(std::move(procedure)));
    procedure = with_lanes_in_loops(with_columns_of_sums_apart(std::move(procedure)));
    procedure = with_carried_elements(with_neighbours_summed(std::move(procedure)));
    procedure = with_loops_in_blocks(std::move(procedure));
    procedure = with_rows_together(with_sums_in_variables(std::move(procedure)));
    procedure = with_loops_upwards(with_sums_together(std::move(procedure)));
    return with_zeros_passed_at_once(with_varied_operands(std::move(procedure)));
}

}  // namespace

std::string print_loadable(const std::string& name, const std::vector<ProcedureFamily>& given,
                           bool runs) {
    const std::vector<ProcedureFamily> families = all_with_names(given);
    std::vector<Procedure> all = all_of(families);
    for (Procedure& each : all)
        if (has_arrays(each)) each = as_loaded(std::move(each));
    std::string out = comment(name, families) + "#include <stddef.h>\n#include <stdint.h>\n";
    CalledFunctions functions_called(names_of(all));
    const std::string code = functions(all, functions_called, true);
    const bool has_places = says_places(functions_called.text() + code);
    const bool throws = any_arrays(all) || (runs && has_places);
    const std::string called = support(all, code, functions_called, throws, LoopQuestion::throwing);
    const bool asks = says(code + called, "::composit_stop_if_asked()");
    if (throws)
        out += headers_of(functions_called.text() + code) +
               "#define assert(condition) do { if (!(condition)) throw __LINE__; } while (false)\n";
    else if (has_assertion(all) || has_places)
        out += "#define assert(condition) ((void)0)\n";
    const bool has_vectors = says(code + called, "std::vector");
    out += "\n" + exactness_pragmas() + "\n" + (asks ? asking : "") +
           (has_vectors ? kept_memory() : "") + with_kept_memory(called) +
           "namespace {\nnamespace kernels {\n\n";
    std::set<std::string> structs;
    for (const Procedure& procedure : all)
        if (const std::string own = results_struct(procedure); structs.insert(own).second)
            out += own;
    out += with_kept_memory(code) +
           "}  // namespace kernels\n\nunion Slot {\n    double as_float64;\n    float "
           "as_float32;\n    int64_t as_int64;\n"
           "    bool as_boolean;\n};\n\n}  // namespace\n\nextern \"C\" {\n";
    for (size_t n = 0; n < all.size(); ++n) {
        const Procedure& procedure = all[n];
        if (runs || has_arrays(procedure)) {
            out += run_function(procedure, n);
            continue;
        }
        std::vector<std::string> arguments, pointers;
        for (size_t i = 0; i < procedure.parameters; ++i) {
            const DType dtype = procedure.variables[i].dtype;
            arguments.push_back(slot("in", i, dtype));
            pointers.push_back(text("static_cast<const ", type_name(dtype), "*>(in[", i, "])"));
        }
        for (size_t i = 0; i < procedure.results.size(); ++i)
            pointers.push_back(
                text("static_cast<", type_name(procedure.results[i].dtype), "*>(out[", i, "])"));
        pointers.push_back("n");
        const std::string call = "::kernels::" + procedure.name + "(" + join(arguments) + ")";
        const std::string begin = asks ? "    try {\n" : "",
                          end =
                              asks ? "    } catch (int stopped) {\n        return stopped;\n    }\n"
                                   : "";
        out += text("int call_", n, "(const Slot* in, Slot* out) {\n", begin);
        if (procedure.results.size() == 1) {
            out += "    " + slot("out", 0, procedure.results[0].dtype) + " = " + call + ";\n";
        } else {
            out += "    const auto results = " + call + ";\n";
            for (size_t i = 0; i < procedure.results.size(); ++i)
                out += "    " + slot("out", i, procedure.results[i].dtype) + " = results." +
                       procedure.results[i].name + ";\n";
        }
        out += text(end, "    return 0;\n}\nint map_", n,
                    "(const void* const* in, void* const* out, int64_t n) {\n", begin,
                    "    ::kernels::v", procedure.name, "(", join(pointers), ");\n", end,
                    "    return 0;\n}\n");
    }
    return out + "}\n";
}

std::vector<std::string> loadable_symbols(const std::vector<ProcedureFamily>& families, bool runs) {
    std::vector<std::string> symbols;
    const std::vector<Procedure> all = all_of(families);
    for (size_t n = 0; n < all.size(); ++n) {
        const bool has_run = runs || has_arrays(all[n]);
        if (has_run) symbols.push_back(text("run_", n));
        for (const char* word : {"call_", "map_"})
            if (!has_run) symbols.push_back(text(word, n));
    }
    return symbols;
}

}  // namespace composit::c_family
