// Modules of kernels: tables, the functions that they call, the kernels.
#include "composit/exporters/mlir_kernels/kernel_text.h"

#include "composit/backends/c_family/procedure_printer.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/backends/c_family/scalar_tables.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/exporters/mlir_kernels/operations.h"
#include "composit/exporters/mlir_kernels/statements_text.h"
#include "composit/exporters/mlir_kernels/without_exits.h"
#include "composit/ir/procedure/arrays_in_place.h"
#include "composit/ir/procedure/exchanges.h"
#include "composit/ir/procedure/iterations.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

namespace composit::mlir {

using ir::DType;
using ir::procedure::Procedure;
using ir::scalar::Expr;
using ir::scalar::Op;

namespace {

constexpr size_t longest_table_line = 100;

std::string indented(const std::string& lines) {
    std::string out;
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) out += "  " + line + "\n";
    return out;
}

// Letters, digits and _: other letters of Python's names are said as _.
std::string symbol(std::string_view wanted, std::set<std::string>& taken) {
    std::string name(wanted);
    for (char& c : name) {
        const bool is_plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!is_plain) c = '_';
    }
    std::string made = name;
    for (int i = 2; !taken.insert(made).second; ++i) made = text(name, "_", i);
    return made;
}

std::string table_text(const Expr& lookup) {
    std::string out = text("  memref.global \"private\" constant @",
                           c_family::table_name(*lookup.table(), lookup.dtype()), " : ",
                           table_type(lookup), " = dense<[\n");
    std::string line = "   ";
    for (size_t i = 0; i < lookup.table()->size(); ++i) {
        const bool is_last = i + 1 == lookup.table()->size();
        const std::string entry =
            " " + scalar_literal(lookup.dtype(), (*lookup.table())[i]) + (is_last ? "]>" : ",");
        if (line.size() + entry.size() > longest_table_line) {
            out += line + "\n";
            line = "   ";
        }
        line += entry;
    }
    return out + line + "\n";
}

// A function of numbers, from an expression over its arguments.
std::string function_text(const std::string& name, const std::string& doc,
                          const std::vector<std::string>& parameters,
                          const std::vector<DType>& dtypes, const Expr& body) {
    FunctionText out({});
    HeldValues arguments;
    std::vector<std::string> heads;
    for (size_t i = 0; i < dtypes.size(); ++i) {
        arguments.push_back({out.fresh(parameters[i]), ""});
        heads.push_back(arguments[i].plain + ": " + scalar_type(dtypes[i]));
    }
    const std::string result = ValuesText(out, arguments).plain(body);
    const std::string type = scalar_type(body.dtype());
    out.line(text("return ", result, " : ", type));
    return (doc.empty() ? "" : indented(comment_of_words(doc))) +
           out.whole(text("func.func private @", name, "(", join(heads), ") -> ", type, " {"));
}

std::string row_text(const ir::scalar::Specialisation& called) {
    std::vector<std::string> parameters;
    for (size_t i = 0; i < called.signature.operands.size(); ++i) {
        std::string name;
        for (const Expr& each : ir::scalar::topological_order({called.body}))
            if (each.op() == Op::argument && each.index() == static_cast<int>(i))
                name = each.name();
        parameters.push_back(name.empty() ? text("x", i) : name);
    }
    return function_text(called.symbol, called.row->doc, parameters, called.signature.operands,
                         called.body);
}

constexpr std::string_view append_text =
    R"(  // The list with one more element, in memory of twice the size where it was full.
  func.func private @append_TYPE(%x: memref<?xTYPE>, %count: index, %value: TYPE)
      -> memref<?xTYPE> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %room = memref.dim %x, %c0 : memref<?xTYPE>
    %is_full = arith.cmpi eq, %count, %room : index
    %list = scf.if %is_full -> (memref<?xTYPE>) {
      %twice = arith.muli %room, %c2 : index
      %grown = memref.alloc(%twice) : memref<?xTYPE>
      scf.for %i = %c0 to %count step %c1 {
        %element = memref.load %x[%i] : memref<?xTYPE>
        memref.store %element, %grown[%i] : memref<?xTYPE>
      }
      memref.dealloc %x : memref<?xTYPE>
      scf.yield %grown : memref<?xTYPE>
    } else {
      scf.yield %x : memref<?xTYPE>
    }
    memref.store %value, %list[%count] : memref<?xTYPE>
    return %list : memref<?xTYPE>
  }
)";

constexpr std::string_view fill_text = R"(  // Gives all elements a value.
  func.func private @fill_TYPE(%x: memref<?xTYPE>, %value: TYPE) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %count = memref.dim %x, %c0 : memref<?xTYPE>
    scf.for %i = %c0 to %count step %c1 {
      memref.store %value, %x[%i] : memref<?xTYPE>
    }
    return
  }
)";

std::string of_type(std::string_view pattern, const std::string& type) {
    std::string out(pattern);
    for (size_t at = 0; (at = out.find("TYPE", at)) != std::string::npos; at += type.size())
        out.replace(at, 4, type);
    return out;
}

// Before anything is made of its expressions: rows of floats of 16 bits are other rows' work.
void check_dtypes(const Procedure& procedure) {
    const auto check = [&](DType dtype) {
        const bool is_written =
            !ir::is_complex(dtype) && (!ir::is_floating(dtype) || ir::size_of(dtype) >= 4);
        user_check<NotSupported>(is_written, "mlir: ", procedure.name, " computes in ", dtype,
                                 ". Floats of dtype float32 or float64, integers and bools are "
                                 "required.");
    };
    for (const auto& each : procedure.variables) check(each.dtype);
    for (const auto& each : procedure.results) check(each.dtype);
    for (const auto& each : procedure.arrays) check(each.dtype);
    for (const Expr& each : ir::scalar::all_expressions(c_family::expressions_of(procedure)))
        check(each.dtype());
}

// As they are written: without what nobody reads, and without exits.
std::vector<Procedure> prepared(const std::vector<Procedure>& procedures) {
    std::vector<Procedure> all;
    for (const Procedure& each : procedures) {
        check_dtypes(each);
        all.push_back(
            without_exits(ir::procedure::with_arrays_in_place(ir::procedure::with_exchanges(
                ir::procedure::without_zero_gradients(c_family::without_unread(each))))));
    }
    return all;
}

void check_options(const std::vector<Procedure>& procedures, const KernelTextOptions& options) {
    user_check<ValueError>(!procedures.empty(),
                           "mlir: there are no functions to write. At least one is required.");
    user_check<ValueError>(options.names.empty() || options.names.size() == procedures.size(),
                           "mlir: there are ", options.names.size(), " names for ",
                           procedures.size(), " functions. One for each is required.");
}

// What kernels call: tables, functions that MLIR has no operation for, rows; `taken` gets names.
std::vector<std::string> called_text(const std::vector<Procedure>& procedures,
                                     std::set<std::string>& taken) {
    std::vector<Expr> values;
    for (const Procedure& each : procedures)
        for (const Expr& value : c_family::expressions_of(each)) values.push_back(value);
    const auto called = c_family::functions_used(values);
    for (const auto* each : called) values.push_back(each->body);
    std::vector<Expr> all = ir::scalar::all_expressions(values);
    const size_t count = all.size();
    for (size_t i = 0; i < count; ++i)  // rows of one operation, which are written in place
        if (all[i].op() == Op::call)
            if (const auto& own = c_family::specialisation_of(all[i]); own.is_one_operation)
                all.push_back(own.body);
    std::vector<std::string> parts;
    std::set<DType> next_afters;
    for (const Expr& each : all) {
        if (each.op() == Op::lookup &&
            taken.insert(c_family::table_name(*each.table(), each.dtype())).second)
            parts.push_back(table_text(each));
        if (each.op() == Op::nextafter) next_afters.insert(each.dtype());
    }
    for (const DType dtype : next_afters)
        parts.push_back(function_text(next_after_symbol(dtype),
                                      "The next number in the direction of y.", {"x", "y"},
                                      {dtype, dtype}, next_after(dtype)));
    for (const auto* each : called) {
        taken.insert(each->symbol);
        parts.push_back(row_text(*each));
    }
    return parts;
}

// Names of helpers, which no kernel has.
std::set<std::string> names_of_helpers() {
    std::set<std::string> names;
    for (const char* type : {"f64", "f32", "i64", "i32", "i16", "i8", "i1"})
        names.insert({text("append_", type), text("fill_", type)});
    for (const DType dtype : {DType::float32, DType::float64})
        names.insert(next_after_symbol(dtype));
    // Functions that operations may be lowered to: a kernel of such a name would be called instead.
    for (const char* function : {"ceil", "copysign", "fabs", "floor", "fma", "fmod", "rint",
                                 "round", "roundeven", "sqrt", "trunc"})
        names.insert({function, text(function, "f")});
    names.insert({"abort", "aligned_alloc", "free", "malloc", "memcpy", "memmove", "memrefCopy",
                  "memset", "puts"});
    return names;
}

}  // namespace

std::string kernel_text(const std::vector<Procedure>& procedures,
                        const KernelTextOptions& options) {
    check_options(procedures, options);
    const std::vector<Procedure> all = prepared(procedures);
    std::set<std::string> taken = names_of_helpers();
    std::vector<std::string> parts = called_text(all, taken);
    Helpers helpers;
    std::vector<std::string> functions;
    for (size_t i = 0; i < all.size(); ++i) {
        const std::string name =
            symbol(options.names.empty() ? procedures[i].name : options.names[i], taken);
        StatementsText own(all[i], {procedures[i].file, options.locations}, helpers);
        functions.push_back(indented(comment_of(procedures[i].doc)) + own.run(name));
    }
    for (const std::string& type : helpers.appends) parts.push_back(of_type(append_text, type));
    for (const std::string& type : helpers.fills) parts.push_back(of_type(fill_text, type));
    parts.insert(parts.end(), functions.begin(), functions.end());
    std::set<std::string> none;
    const std::string module =
        symbol(options.module.empty() ? procedures[0].name : options.module, none);
    return "module @" + module + " {\n" + join(parts, "\n") + "}\n";
}

std::string kernel_text_of(const std::vector<std::vector<Procedure>>& families,
                           KernelTextOptions options) {
    std::vector<Procedure> procedures;
    options.names.clear();
    for (size_t family = 0; family < families.size(); ++family)
        for (const Procedure& each : families[family]) {
            procedures.push_back(each);
            options.names.push_back(each.name + (family == 0 ? "" : "_float"));
        }
    return kernel_text(procedures, options);
}

}  // namespace composit::mlir
