// Prints the constant tables of scalar functions.
#include "composit/backends/c_family/scalar_tables.h"

#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

#include <iomanip>
#include <set>
#include <sstream>

namespace composit::c_family {

using ir::DType;
using ir::scalar::Bits;
using ir::scalar::Expr;
using ir::scalar::Op;
using ir::scalar::Specialisation;

std::string table_name(const std::vector<Bits>& table, DType dtype) {
    std::ostringstream out;
    out << "table_" << std::hex << std::setw(8) << std::setfill('0')
        << static_cast<uint32_t>(ir::scalar::hash_of_table(table) + static_cast<uint64_t>(dtype));
    return out.str();
}

std::string print_tables(const std::vector<Expr>& results, const ScalarSpelling& spelling) {
    std::vector<Expr> bodies = results;
    for (const Specialisation* used : functions_used(results)) bodies.push_back(used->body);
    std::set<std::string> printed;
    std::string out;
    for (const Expr& expr : ir::scalar::all_expressions(bodies)) {
        if (expr.op() != Op::lookup) continue;
        const std::string name = table_name(*expr.table(), expr.dtype());
        if (!printed.insert(name).second) continue;
        out += std::string(spelling.table_start) + type_name(expr.dtype()) + " " + name +
               text("[", expr.table()->size(), "] = {\n   ");
        size_t column = 4;
        for (const Bits& bits : *expr.table()) {
            const std::string entry = " " + literal(expr.dtype(), bits, spelling) + ",";
            if (column + entry.size() > 96) {
                out += "\n   ";
                column = 4;
            }
            out += entry;
            column += entry.size();
        }
        out += "\n};\n";
    }
    return out;
}

}  // namespace composit::c_family
