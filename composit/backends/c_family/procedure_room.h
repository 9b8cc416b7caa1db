// How many elements loops append to an array, where it is known before they run.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <map>
#include <vector>

namespace composit::c_family {

// Of arrays that grow: factors of the number of their elements, over parameters; those below zero
// stand for zero. All that is appended is in one loop, in every iteration, and the loops around it
// count between what parameters tell. Other arrays are missing.
std::map<int, std::vector<ir::scalar::Expr>> rooms_of(const ir::procedure::Procedure& procedure);

}  // namespace composit::c_family
