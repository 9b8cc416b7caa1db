// Writes the interpreter's vector kernels as C++: one per operation and dtypes, one per library
// function and float dtype, as the scalar printer spells them. Run during the build: write_kernels
// OUTPUT.cpp
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>

namespace {

using composit::ir::DType;
using composit::ir::scalar::Expr;
using composit::ir::scalar::Op;
using composit::ir::scalar::Specialisation;

constexpr DType dtypes[] = {DType::boolean, DType::int8,    DType::int16,  DType::int32,
                            DType::int64,   DType::uint8,   DType::uint16, DType::uint32,
                            DType::uint64,  DType::float32, DType::float64};

// Shared with composit/backends/interpreter/kernel_set.h, which this program cannot link.
std::string symbol_of(Op op, const std::vector<DType>& operands, DType result) {
    std::string symbol = composit::text("op_", composit::ir::scalar::name(op));
    for (DType dtype : operands) symbol += composit::text("_", dtype);
    if (op == Op::cast || op == Op::bitcast || op == Op::lookup)
        symbol += composit::text("_", result);
    return symbol;
}

std::vector<Expr> arguments_of(const std::vector<DType>& operands) {
    std::vector<Expr> arguments;
    for (size_t i = 0; i < operands.size(); ++i)
        arguments.push_back(Expr::argument(static_cast<int>(i), operands[i]));
    return arguments;
}

constexpr int long_chain = 12;  // operations: more are faster by turns with those of other elements

class Writer {
  public:
    // out[i] = value(a[i], b[i], c[i])
    void add_map(const std::string& symbol, const std::vector<DType>& operands, const Expr& value) {
        composit::c_family::TakenNames taken({"i", "n", "out", "a", "b", "c", "to"});
        // A load that a choice may leave out is a conditional one: g++ 12 gives it the condition of
        // another element in loops that it unrolls (-O3 -mavx2).
        const std::set<int> left_out = composit::c_family::arguments_in_branches({value});
        std::vector<std::string> arguments;
        std::string loads, lines;
        for (size_t k = 0; k < operands.size(); ++k) {
            const std::string name = std::string(1, "abc"[k]),
                              type = composit::c_family::type_name(operands[k]);
            loads += "    const " + type + "* const x" + name + " = static_cast<const " + type +
                     "*>(" + name + ");\n";
            taken.insert("x" + name);
            arguments.push_back("x" + name + "[i]");
            if (!left_out.contains(static_cast<int>(k))) continue;
            lines += "        const " + type + " v" + name + " = " + arguments.back() + ";\n";
            arguments.back() = "v" + name;
            taken.insert(arguments.back());
        }
        const auto body = composit::c_family::print_statements({value}, arguments, taken);
        for (const std::string& line : body.lines) lines += "        " + line + "\n";
        const bool is_long = composit::c_family::longest_chain({value}) >= long_chain;
        add(symbol, loads, composit::c_family::type_name(value.dtype()), lines, body.results[0],
            is_long ? "COMPOSIT_IN_TURNS " : "");
    }

    void add_lookup(DType index, DType entry) {
        const std::string type = composit::c_family::type_name(entry);
        const std::string loads = "    const " + composit::c_family::type_name(index) +
                                  "* const xa = static_cast<const " +
                                  composit::c_family::type_name(index) + "*>(a);\n    const " +
                                  type + "* const table = static_cast<const " + type + "*>(b);\n";
        add(symbol_of(Op::lookup, {index}, entry), loads, type, "", "table[xa[i]]");
    }

    void write(std::ostream& out) const {
        for (const auto& [symbol, definition] : definitions_) out << definition << "\n";
        out << "extern const NamedKernel named_kernels[];\nextern const int64_t "
               "named_kernel_count;\n";
        out << "const NamedKernel named_kernels[] = {\n";
        for (const auto& [symbol, definition] : definitions_)
            out << "    {\"" << symbol << "\", run_" << symbol << "},\n";
        out << "};\nconst int64_t named_kernel_count = " << definitions_.size() << ";\n";
    }

    size_t size() const { return definitions_.size(); }

  private:
    void add(const std::string& symbol, const std::string& loads, const std::string& type,
             const std::string& lines, const std::string& result, const std::string& how = "") {
        definitions_[symbol] = "static void run_" + symbol +
                               "([[maybe_unused]] const void* a, [[maybe_unused]] const void* b,\n"
                               "    [[maybe_unused]] const void* c, void* out, int64_t n) {\n" +
                               loads + "    " + type + "* const to = static_cast<" + type +
                               "*>(out);\n" + "    COMPOSIT_EACH_ALONE " + how +
                               "\n    for (int64_t i = 0; i < n; ++i) {\n" + lines +
                               "        to[i] = " + result + ";\n    }\n}\n";
    }

    std::map<std::string, std::string> definitions_;  // sorted, as KernelSet::find needs
};

// Whatever the language accepts: dtypes that an operation refuses are left out.
void add_operation(Writer& writer, Op op) {
    const int arity = composit::ir::scalar::arity_of(op);
    for (DType dtype : dtypes) {
        std::vector<DType> operands(static_cast<size_t>(arity), dtype);
        if (op == Op::select) operands[0] = DType::boolean;
        try {
            const Expr value = Expr::make(op, arguments_of(operands));
            writer.add_map(symbol_of(op, operands, value.dtype()), operands, value);
        } catch (const composit::Error&) {
            continue;
        }
    }
}

void add_conversions(Writer& writer) {
    for (DType from : dtypes) {
        for (DType to : dtypes) {
            const Expr x = Expr::argument(0, from);
            if (from != to)
                writer.add_map(symbol_of(Op::cast, {from}, to), {from}, Expr::cast(x, to));
            const bool is_bool = from == DType::boolean || to == DType::boolean;
            if (from != to && !is_bool && composit::ir::size_of(from) == composit::ir::size_of(to))
                writer.add_map(symbol_of(Op::bitcast, {from}, to), {from}, Expr::bitcast(x, to));
            if (composit::ir::is_integer(from)) writer.add_lookup(from, to);
        }
    }
}

// Operation by operation a loop is slow.
bool has_loop(const Expr& body) {
    const auto order = composit::ir::scalar::topological_order({body});
    return std::any_of(order.begin(), order.end(),
                       [](const Expr& expr) { return expr.op() == Op::loop; });
}

std::vector<Expr> add_library(Writer& writer) {
    std::vector<Expr> calls;
    for (const auto& row : composit::ir::scalar::all_rows()) {
        if (row->arity > 3) continue;
        bool takes_floats = false;
        for (DType dtype :
             {DType::float32, DType::float64, DType::uint64, DType::int64, DType::int32,
              DType::uint32, DType::int16, DType::uint16, DType::int8, DType::uint8}) {
            const bool is_float = composit::ir::is_floating(dtype);
            if (takes_floats && !is_float) continue;  // compilers take long enough
            const std::vector<DType> operands(static_cast<size_t>(row->arity), dtype);
            try {
                const Specialisation& s = composit::ir::scalar::specialise(row, operands);
                takes_floats |= is_float;
                if (s.is_one_operation || s.signature.operands != operands) continue;
                if (!is_float && dtype != DType::uint64 && !has_loop(s.body)) continue;
                const Expr call = Expr::call(row, arguments_of(operands));
                writer.add_map(s.symbol, operands, call);
                calls.push_back(call);
            } catch (const composit::Error&) {
                continue;  // no such signature: the row refuses floats
            }
        }
    }
    return calls;
}

int write_file(const char* path) {
    Writer writer;
    for (int i = 0; i < composit::ir::scalar::op_count; ++i) {
        const Op op = static_cast<Op>(i);
        const bool has_own_form = op == Op::constant || op == Op::argument || op == Op::cast ||
                                  op == Op::bitcast || op == Op::lookup || op == Op::call ||
                                  op == Op::loop;
        if (!has_own_form) add_operation(writer, op);
    }
    add_conversions(writer);
    const std::vector<Expr> calls = add_library(writer);
    std::ofstream out(path);
    out << "// Generated: the vector kernels of the interpreter.\n#include <cstddef>\n#include "
           "<cstdint>\n\n"
           "#include \"composit/backends/interpreter/kernel_set.h\"\n\n"
           "#if defined(__clang__)\n"
           "#define COMPOSIT_EACH_ALONE _Pragma(\"clang loop vectorize(assume_safety)\")\n"
           "#define COMPOSIT_IN_TURNS _Pragma(\"clang loop interleave_count(4)\")\n"
           "#else\n#define COMPOSIT_EACH_ALONE _Pragma(\"GCC ivdep\")\n"
           "#define COMPOSIT_IN_TURNS _Pragma(\"GCC unroll 2\")\n#endif\n\n"
           "namespace composit::interpreter::COMPOSIT_ISA {\n\n"
        << composit::c_family::scalar_prelude() << "\n"
        << composit::c_family::print_tables(calls) << "\n";
    for (const Specialisation* s : composit::c_family::functions_used(calls))
        out << composit::c_family::print_function(*s) << "\n";
    writer.write(out);
    out << "\n}  // namespace composit::interpreter::COMPOSIT_ISA\n";
    out.close();
    if (!out) {
        std::cerr << "write_kernels: cannot write " << path << "\n";
        return 1;
    }
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: write_kernels OUTPUT.cpp\n";
        return 2;
    }
    try {
        return write_file(arguments[1]);
    } catch (const std::exception& error) {
        std::cerr << "write_kernels: " << error.what() << "\n";
        return 1;
    }
}
