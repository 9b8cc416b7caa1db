// Looks at the innermost loops over columns and depth.
#include "composit/ir/kernel/row_of_windows.h"

#include <cstddef>

namespace composit::ir::kernel {
namespace {

// The number of the last loop of several iterations, plus 1; 0: there is none.
size_t end_of_loops(const Extents& extents) {
    size_t end = extents.size();
    while (end > 0 && extents[end - 1] == 1) --end;
    return end;
}

}  // namespace

bool is_row_of_windows(const Contract& c) {
    constexpr int64_t most_depth = 64, few_columns = 4, widest_step = 2;
    if (c.left_is_packed || c.right_is_packed || element_count(c.rows) != 1) return false;
    const size_t depth_end = end_of_loops(c.depth), columns_end = end_of_loops(c.columns);
    if (depth_end == 0 || columns_end == 0) return false;
    // The right operand has strides over batch, depth and columns, the output over batch, rows and
    // columns.
    const size_t b = c.batch.size(), k = c.depth.size(), m = c.rows.size();
    const int64_t inside = c.right.strides[b + depth_end - 1];
    const auto step_at = [&](size_t d) { return c.right.strides[b + k + d]; };
    const auto stored_at = [&](size_t d) { return c.output.strides[b + m + d]; };
    const int64_t step = step_at(columns_end - 1), stored = stored_at(columns_end - 1);
    int64_t count = c.columns[columns_end - 1];
    for (size_t d = columns_end - 1; d-- > 0;) {  // as far as loops go on where inner ones end
        if (c.columns[d] == 1) continue;
        if (step_at(d) != step * count || stored_at(d) != stored * count) break;
        count *= c.columns[d];
    }
    return element_count(c.depth) <= most_depth && count >= few_columns && step >= 1 &&
           step <= widest_step && inside >= 1 && inside < count * step;
}

}  // namespace composit::ir::kernel
