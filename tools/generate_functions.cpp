// Writes composit/numpy/functions.h: one inline function for every row, and alias, of the scalar
// table.
#include "composit/ir/scalar/row.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

namespace {

using composit::ir::scalar::Row;

// Functions that composit/numpy declares itself, because they do more than apply a row.
constexpr std::array<std::string_view, 3> written_by_hand{"clip", "imag", "real"};

// Names of rows that C++ keeps for itself get an underscore.
std::string identifier(const std::string& name) {
    constexpr std::array<std::string_view, 5> keywords{"and", "or", "not", "xor", "bool"};
    const bool is_taken = std::find(keywords.begin(), keywords.end(), name) != keywords.end();
    return is_taken ? name + "_" : name;
}

void write_function(std::ostream& out, const Row& row, const std::string& name) {
    if (std::find(written_by_hand.begin(), written_by_hand.end(), name) != written_by_hand.end())
        return;
    std::string parameters, arguments;
    for (int i = 1; i <= row.arity; ++i) {
        const std::string x = row.arity == 1 ? "x" : "x" + std::to_string(i);
        parameters += (i > 1 ? ", const Operand& " : "const Operand& ") + x;
        arguments += ", " + x;
    }
    out << "// " << row.doc << '\n'
        << "[[nodiscard]] inline Tensor " << identifier(name) << '(' << parameters << ") {\n"
        << "    static const ir::scalar::RowRef& row = ir::scalar::table_row(\"" << row.name
        << "\");\n"
        << "    return apply_row(row" << arguments << ");\n}\n\n";
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "generate_functions: the file to write is required.\n";
        return 1;
    }
    std::ofstream out(arguments[1]);
    out << "// One function for every row of the scalar table; written by the build.\n"
           "#pragma once\n\n#include \"composit/numpy/elementwise.h\"\n\n"
           "namespace composit::numpy {\n\n";
    for (const auto& row : composit::ir::scalar::all_rows()) {
        write_function(out, *row, row->name);
        for (const std::string& alias : row->aliases) write_function(out, *row, alias);
    }
    out << "}  // namespace composit::numpy\n";
    out.close();
    if (out) return 0;
    std::cerr << "generate_functions: cannot write " << arguments[1] << ".\n";
    return 1;
}
