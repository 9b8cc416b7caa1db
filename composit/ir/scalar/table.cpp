// Collects the table's parts in the order in which documentation lists them.
#include "composit/ir/scalar/table.h"

#include <iterator>

namespace composit::ir::scalar {

std::vector<Row> table_rows() {
    std::vector<Row> rows;
    for (const auto& part :
         {arithmetic_rows, comparison_rows, extremum_rows, rounding_rows, parts_rows, bit_rows,
          divisor_rows, exponential_rows, power_rows, trigonometric_rows, hyperbolic_rows,
          complex_rows, special_rows, random_rows, remark_rows}) {
        std::vector<Row> more = part();
        rows.insert(rows.end(), std::make_move_iterator(more.begin()),
                    std::make_move_iterator(more.end()));
    }
    add_complex_rules(rows);
    add_signals(rows);
    return rows;
}

}  // namespace composit::ir::scalar
