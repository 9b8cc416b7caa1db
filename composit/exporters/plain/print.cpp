// Puts the files together.
#include "composit/backends/c_family/kernel_printer.h"
#include "composit/backends/c_family/line_breaks.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/ascii.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/base/whole_file.h"
#include "composit/exporters/plain/kernel_text.h"
#include "composit/exporters/plain/language.h"
#include "composit/exporters/plain/plain.h"
#include "composit/exporters/plain/procedures.h"
#include "composit/exporters/plain/program_text.h"
#include "composit/exporters/plain/selfcheck.h"
#include "composit/exporters/plain/strict_text.h"
#include "composit/version.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>

namespace composit::plain {
namespace {

using ir::kernel::Kernel;

// Weights of more lines stand in a file of their own.
constexpr std::ptrdiff_t most_lines_of_constants = 200;

// What compilers must not do for the bits to be right.
constexpr const char* exactness =
    R"(#if defined(__FAST_MATH__) || __FLT_EVAL_METHOD__ > 0
#error "Compile without -ffast-math, and with arithmetic of float and double that is exact."
#elif defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("no-trapping-math,fp-contract=off")
#endif
)";

// Whether something is compared with itself, which compilers warn of: "x > x", but not "x != x"
// where that asks for NaN.
bool compares_with_itself(const std::string& code) {
    // By the declaration before `at`.
    const auto may_be_nan = [&](const std::string& name, size_t at) {
        const auto last = [&](const char* type) {
            const size_t place = code.rfind(type + name, at);
            return place == std::string::npos ? 0 : place + 1;
        };
        return std::max(last("float "), last("double ")) >
               std::max({last("_t "), last("bool "), last("int ")});
    };
    for (const std::string sign : {" < ", " > ", " <= ", " >= ", " == ", " != "})
        for (size_t at = 0; (at = code.find(sign, at)) != std::string::npos; at += sign.size()) {
            const size_t begin = code.find_last_of(" (\n", at - 1) + 1, size = at - begin;
            const size_t end = at + sign.size() + size;
            if (code.compare(at + sign.size(), size, code, begin, size) == 0 &&
                (end >= code.size() || !ascii::is_of_word(code[end])) &&
                (sign[1] == '<' || sign[1] == '>' || !may_be_nan(code.substr(begin, size), begin)))
                return true;
        }
    return false;
}

// Procedures have arrays whose elements a loop sets before another one reads them, and conditions
// that hold for any number, as it is not known when they are made: compilers warn of both.
std::string procedures_pragmas(const Procedures& all) {
    const std::string procedures = all.text();
    std::string pragmas;
    if (all.has_unset_arrays())
        pragmas +=
            "#if defined(__GNUC__) && !defined(__clang__)\n"
            "#pragma GCC diagnostic ignored \"-Wmaybe-uninitialized\"\n#endif\n";
    if (procedures.find(" && ") != std::string::npos ||
        procedures.find(" || ") != std::string::npos)
        pragmas += "#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n";
    return pragmas;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return lines;
}

size_t margin_of(const std::string& line) {
    return std::min(line.find_first_not_of(' '), line.size());
}

// The lines of code, broken where they are too long; a loop around one short statement is one line.
std::string in_lines(const std::string& code) {
    const std::vector<std::string> lines = lines_of(code);
    std::string result;
    for (size_t k = 0; k < lines.size(); ++k) {
        std::string line = lines[k];
        const size_t margin = margin_of(line);
        if (line.compare(margin, 5, "for (") == 0 && line.ends_with(")") && k + 1 < lines.size()) {
            const std::string& next = lines[k + 1];
            const bool is_statement =
                next.ends_with(";") && next.compare(margin_of(next), 5, "for (") != 0;
            if (is_statement &&
                line.size() + next.size() - margin_of(next) < c_family::longest_line) {
                line += " " + next.substr(margin_of(next));
                ++k;
            }
        }
        // A function of one short statement.
        if (margin == 0 && line.ends_with(") {") && k + 2 < lines.size() && lines[k + 2] == "}" &&
            lines[k + 1].starts_with("    return ") &&
            line.size() + lines[k + 1].size() < c_family::longest_line) {
            line += " " + lines[k + 1].substr(4) + " }";
            k += 2;
        }
        result += line + "\n";
    }
    return c_family::in_columns(result);
}

bool is_cpp(const ProgramText& program) { return program.options().language == Language::cpp; }
std::string header_name(const ProgramText& program) {
    return program.name() + (is_cpp(program) ? ".hpp" : ".h");
}
std::string source_name(const ProgramText& program) {
    return program.name() + (is_cpp(program) ? ".cpp" : ".c");
}

// The files that the kernels come from.
std::string origin(const ProgramText& program) {
    std::set<std::string> files;
    for (const FunctionPlan& plan : program.functions())
        for (const Kernel& kernel : plan.program.kernels)
            for (const std::string& line : kernel.lines)
                files.insert(line.substr(0, line.rfind(':')));
    if (files.size() > 4) files.erase(std::next(files.begin(), 4), files.end());
    return files.empty() ? "" : " from " + join(files);
}

std::string table_of_c(const ProgramText& program, const c_family::TextTable& table) {
    return declarator(table, program.name() + "_" + table.name);
}

// `code`: all that reads the header.
std::string header_text(const ProgramText& program, bool has_selfcheck, const std::string& code) {
    bool has_bool = false, can_fault = false, has_other_faults = false, has_memory = false;
    std::string guard = program.name() + (is_cpp(program) ? "_hpp" : "_h");
    std::string declarations;
    int64_t bytes = 0;
    for (const FunctionPlan& plan : program.functions()) {
        declarations += program.declaration(plan) + ";\n";
        can_fault |= plan.can_fault;
        has_other_faults |= plan.has_other_faults;
        bytes += plan.memory->bytes();
        if (program.options().has_workspace && !plan.memory->is_empty()) {
            has_memory = true;
            declarations += text(
                "enum { ", ProgramText::bytes_name(plan), " = ", plan.memory->bytes(),
                " };  // at an address that is a multiple of ", plan.memory->alignment(), "\n");
        }
    }
    has_bool = c_family::has_word(declarations, "bool");
    while (c_family::has_word(declarations + code, guard)) guard += "_";  // of an argument
    std::string result = comment_line(text("Made by composit ", version, origin(program), "."));
    if (program.options().is_strict)
        result += text("#ifndef ", guard, "\n#define ", guard, "\n");
    else
        result += "#pragma once\n";
    if (has_bool && !is_cpp(program)) result += "#include <stdbool.h>\n";
    result += "#include <stdint.h>\n\n";
    if (is_cpp(program)) result += text("namespace ", program.name(), " {\n");
    result += text("// Arrays of constants are read, the others written; none may overlap.",
                   can_fault ? " 1: an index is out of bounds." : "", "\n");
    if (has_other_faults) result += "// 2: something else that a kernel requires does not hold.\n";
    if (bytes > 0 && !has_memory)
        result += text("// ", bytes, " bytes of memory are static: one call at a time.\n");
    result += declarations;
    for (const c_family::TextTable& table : program.options().texts)
        result += is_cpp(program) ? text("inline constexpr ", declarator(table, table.name), " = ",
                                         initializer(table), ";\n")
                                  : text("extern ", table_of_c(program, table), ";\n");
    if (has_selfcheck)
        result += text("// 0: this machine gives the bits of a recorded call.\n",
                       selfcheck_declaration(program), ";\n");
    if (is_cpp(program)) result += text("}  // namespace ", program.name(), "\n");
    if (program.options().is_strict) result += "#endif\n";
    return result;
}

std::string source_comment(const ProgramText& program, bool has_roots) {
    int64_t bytes = 0;
    for (const FunctionPlan& plan : program.functions()) bytes += plan.memory->bytes();
    return comment_line(text("Made by composit ", version, origin(program), ". ",
                             is_cpp(program) ? "c++ -std=c++17" : "cc -std=c99", " -O2 ",
                             has_roots ? "-fno-math-errno " : "", "-c ", source_name(program))) +
           text("// One function for each kernel, the same bits everywhere. Memory: ", bytes,
                " bytes", program.options().has_workspace ? " of the caller's" : "",
                "; constants: ", program.constant_bytes(), " bytes.\n");
}

}  // namespace

Target target_of_plain_text() {
    Target target;
    target.part_bytes = 1;  // passes run, but for those that make what `unprintable` refuses
    // Maps go into the loop of the product that they finish, whatever its size.
    target.least_columns = 0;
    target.tile_columns = 1;
    target.least_product = -1;
    target.depth_of_map = std::numeric_limits<int64_t>::max();
    target.near_bytes = 0;
    return target;
}

std::optional<std::string> unprintable(const Kernel& kernel, const ir::kernel::Program& program) {
    if (const auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body)) {
        for (const Kernel& each : repeat->kernels)
            if (auto reason = unprintable(each, program)) return reason;
        return {};
    }
    if (const auto* foreign = std::get_if<ir::kernel::Foreign>(&kernel.body))
        return text("it calls the function ", foreign->function, " of a library");
    if (const auto* call = std::get_if<ir::kernel::Call>(&kernel.body))
        return unprintable_call(*call, program);
    const bool is_printed = std::visit(
        [](const auto& body) {
            return requires(const Printing& printing) { print_body(printing, body); };
        },
        kernel.body);
    if (!is_printed) return "it only changes the order of work";
    return c_family::unprintable(kernel);
}

std::vector<NamedText> print_plain(const std::vector<PlainFunction>& functions,
                                   const PlainOptions& options) {
    const ProgramText program(functions, options);
    std::vector<std::string> taken;
    for (const FunctionPlan& plan : program.functions()) taken.push_back(plan.name);
    check_text_tables(options.texts, taken);
    const std::string kernels = program.kernels(), calls = program.calls(),
                      structs = program.structs(), selfcheck = selfcheck_text(program);
    const std::string constants =
        options.is_strict ? with_capital_suffixes(program.constants()) : program.constants();
    const std::string called = kernels + selfcheck;
    const bool has_roots = called.find("sqrt_float") != std::string::npos;
    std::string source = source_comment(program, has_roots);
    source += text("#include \"", header_name(program), "\"\n");
    const auto says = [&](const char* word) {
        return c_family::has_word(constants + structs + called, word);
    };
    if (!is_cpp(program) && (says("bool") || says("true") || says("false")))
        source += "#include <stdbool.h>\n";
    if (c_family::has_word(calls, "memcpy") || c_family::has_word(calls + kernels, "memset"))
        source += "#include <string.h>\n";
    source += exactness;
    const std::string pragmas = procedures_pragmas(program.procedures());
    source += pragmas;
    if (compares_with_itself(kernels) && pragmas.find("tautological") == std::string::npos)
        source += "#pragma GCC diagnostic ignored \"-Wtautological-compare\"\n";
    source += is_cpp(program) ? text("namespace ", program.name(), " {\n") : "\n";
    if (!is_cpp(program))
        for (const c_family::TextTable& table : options.texts)
            source += text(table_of_c(program, table), " = ", initializer(table), ";\n\n");
    std::vector<NamedText> files;
    const bool is_apart =
        std::count(constants.begin(), constants.end(), '\n') > most_lines_of_constants;
    const std::string weights_name = program.name() + "_weights.h";
    if (is_apart)
        source += text("#include \"", weights_name, "\"\n\n");
    else if (!constants.empty())
        source += constants + "\n";
    const std::string code =
        structs + support_text(options.language, called) + kernels + calls + selfcheck;
    source += in_lines(options.is_strict ? strict_text(options.language, code) : code);
    while (source.ends_with("\n\n")) source.pop_back();
    if (is_cpp(program)) source += text("}  // namespace ", program.name(), "\n");
    files.push_back(
        {header_name(program), header_text(program, !selfcheck.empty(), constants + code)});
    files.push_back({source_name(program), source});
    if (is_apart)
        files.push_back({weights_name, text("// The constants of ", source_name(program), ", ",
                                            program.constant_bytes(), " bytes.\n", constants)});
    return files;
}

std::vector<std::string> export_plain(const std::vector<PlainFunction>& functions,
                                      const std::string& folder, const PlainOptions& options) {
    std::vector<NamedContent> files;
    std::vector<std::string> names;
    for (NamedText& each : print_plain(functions, options)) {
        names.push_back(each.name);
        files.push_back({each.name, std::move(each.text)});
    }
    write_whole_files("export", folder, files);
    return names;
}

}  // namespace composit::plain
