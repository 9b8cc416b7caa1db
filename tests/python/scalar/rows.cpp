// What test_rows_against_numpy.py asks of the table: its loops as C++ text, its type rules, its
// evaluation.
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"

#include <cstring>
#include <fstream>

using namespace composit;
using namespace composit::ir;
using namespace composit::ir::scalar;

namespace {

std::vector<DType> dtypes_of(const char* names) {
    std::istringstream in(names);
    std::vector<DType> dtypes;
    for (std::string name; in >> name;) dtypes.push_back(dtype_from_name(name));
    return dtypes;
}

std::string element_type(DType dtype) {
    return dtype == DType::boolean ? "uint8_t" : c_family::type_name(dtype);
}

std::string loop_of(const Specialisation& s) {
    std::vector<Expr> arguments;
    std::vector<std::string> names;
    c_family::TakenNames taken{{"i", "n", "out"}};
    std::string parameters, loads;
    for (size_t k = 0; k < s.signature.operands.size(); ++k) {
        const DType dtype = s.signature.operands[k];
        arguments.push_back(Expr::argument(static_cast<int>(k), dtype));
        names.push_back(c_family::unique_name(text("v", k), taken));
        parameters += text("const ", element_type(dtype), "* __restrict x", k, ", ");
        loads += text("        [[maybe_unused]] const ", c_family::type_name(dtype), " v", k,
                      " = x", k, "[i];\n");
    }
    const auto body = c_family::print_statements({Expr::call(s.row, arguments)}, names, taken);
    std::string out =
        "extern \"C\" void loop_" + s.symbol + "(" + parameters + element_type(s.signature.result) +
        "* __restrict out, int64_t n) {\n    for (int64_t i = 0; i < n; ++i) {\n" + loads;
    for (const std::string& line : body.lines) out += "        " + line + "\n";
    return out + "        out[i] = " + body.results[0] + ";\n    }\n}\n";
}

}  // namespace

extern "C" {

// One line per row: its name and arity.
const char* row_names() {
    static std::string lines;
    lines.clear();
    for (const RowRef& row : all_rows())
        if (!is_user_row(*row)) lines += text(row->name, " ", row->arity, "\n");
    return lines.c_str();
}

// "float32 float32 -> float32", or the name of the error.
const char* signature(const char* name, const char* dtypes) {
    static std::string line;
    try {
        const Signature found = row(name)->types(name, dtypes_of(dtypes));
        line = join(found.operands, " ") + text(" -> ", found.result);
    } catch (const TypeError&) {
        line = "TypeError";
    }
    return line.c_str();
}

// The symbol of a specialisation; empty where it is NotSupported.
const char* symbol(const char* name, const char* dtypes) {
    static std::string line;
    try {
        line = specialise(row(name), dtypes_of(dtypes)).symbol;
    } catch (const NotSupported&) {
        line.clear();
    }
    return line.c_str();
}

// Writes loops over the rows of `count` pairs of names and dtypes.
void write_loops(const char* path, const char** names, const char** dtypes, int64_t count) {
    std::vector<Expr> calls;
    std::string loops;
    for (int64_t i = 0; i < count; ++i) {
        const Specialisation& s = specialise(row(names[i]), dtypes_of(dtypes[i]));
        std::vector<Expr> arguments;
        for (size_t k = 0; k < s.signature.operands.size(); ++k)
            arguments.push_back(Expr::argument(static_cast<int>(k), s.signature.operands[k]));
        calls.push_back(Expr::call(s.row, arguments));
        loops += loop_of(s);
    }
    std::ofstream out(path);
    out << "#include <cstdint>\n" << c_family::scalar_prelude() << c_family::print_tables(calls);
    for (const Specialisation* used : c_family::functions_used(calls))
        out << c_family::print_function(*used);
    out << loops;
}

void evaluate_row(const char* name, const char* dtypes, const char** operands, char* out,
                  int64_t n) {
    const Specialisation& s = specialise(row(name), dtypes_of(dtypes));
    const size_t width = static_cast<size_t>(size_of(s.signature.result));
    for (int64_t i = 0; i < n; ++i) {
        std::vector<Bits> x(s.signature.operands.size());
        for (size_t k = 0; k < x.size(); ++k) {
            const auto size = static_cast<size_t>(size_of(s.signature.operands[k]));
            std::memcpy(x[k].data(), operands[k] + static_cast<size_t>(i) * size, size);
        }
        std::memcpy(out + static_cast<size_t>(i) * width, evaluate({s.body}, x)[0].data(), width);
    }
}

}  // extern "C"
