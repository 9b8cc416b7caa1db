// The largest of the values that the iterations of a loop compute, and what these receive of its
// gradient, of which calls with the values as functions say all.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace composit::c_family {

// m = -infinity; for (k < n) m = maximum(m, value of k), at this place of the block and the next
// one; or minimum, from infinity on. The loop has nothing but loads beside.
struct ValuesExtreme {
    int extremum = -1, counter = -1;
    ir::scalar::Expr count, value;
    bool is_largest = true;
    std::set<int> variables, arrays;  // that the values are made of
};
std::optional<ValuesExtreme> values_extreme_at(const ir::procedure::Procedure& procedure,
                                               const ir::procedure::Block& block, size_t index);

// Behind that, of the same values, each equal one of which has its part of a gradient:
//   equal = 0; for (k < n) equal += value < m ? 0 : 1; part = gradient / equal
//   for (k < n) { slope = value < m ? 0 : part; what receives it }
// Other statements may stand between, which change nothing of what the values and the gradient are
// made of.
struct ExtremeSlopes {
    std::set<size_t> said;  // places in the block that the call says, beside the last loop
    size_t last = 0;        // the place of the last loop
    ir::scalar::Expr gradient;
    int counter = -1, slope = -1;
    std::set<size_t> receiving;  // places in the last loop of what does not only find the slope
};
std::optional<ExtremeSlopes> extreme_slopes_at(const ir::procedure::Procedure& procedure,
                                               const ir::procedure::Block& block, size_t index,
                                               const ValuesExtreme& extreme);

// The functions that stand for such loops, as text of the file.
std::string values_extreme_functions(ir::DType dtype, bool is_largest);
std::string values_extreme_templates(bool is_largest);

}  // namespace composit::c_family
