// The table's remarks: a value as it is, and a warning where a condition holds. NumPy's functions
// written in Python warn so, of slices without numbers.
#include "composit/base/error.h"
#include "composit/ir/scalar/library_parts.h"
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {
namespace {

Signature remark_types(std::string_view name, const std::vector<DType>& operands) {
    user_check<TypeError>(is_floating(operands[0]) && operands[1] == DType::boolean, name,
                          ": operands of dtypes ", operands[0], " and ", operands[1],
                          " are given. A float and bool are required.");
    return {operands, operands[0]};
}

// NaN where the condition holds, by arithmetic that raises the processor's flag.
Expr remarked(const Expr& x, const Expr& happened) {
    return x * select(happened, parts::signaling_nan(x), one_like(x));
}

Row remark(std::string name, std::string warning) {
    Row row{std::move(name),
            {},
            2,
            remark_types,
            {{-3, 3}, {0, 0}},
            "x1, and NaN with the warning '" + warning + "' where x2 holds",
            [](X x) { return remarked(x[0], x[1]); },
            [](X x, Y) { return Exprs{select(x[1], 0.0, one_like(x[0])), Expr()}; },
            false,
            [](X x, Y, Y g, int i) { return i == 0 ? select(x[1], 0.0, g) : Expr(); }};
    row.signals.warning = std::move(warning);
    return row;
}

}  // namespace

std::vector<Row> remark_rows() {
    return {remark("remark_all_nan", "All-NaN slice encountered"),
            remark("remark_empty", "Mean of empty slice"),
            remark("remark_degrees", "Degrees of freedom <= 0 for slice.")};
}

}  // namespace composit::ir::scalar
