// How many elements arrays hold that loops decide about, where it is known before they run.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <map>
#include <vector>

namespace composit::c_family {

// Of arrays that grow: factors of how many elements they get at most, over parameters; those below
// zero stand for zero. All that is appended is in one loop, in every iteration, or in one on each
// side of a branch, and the loops around it count between what parameters tell, or the counters of
// one another. Other arrays are missing.
//   for i < n: for j < i + 1: log.append(…)   n, n
std::map<int, std::vector<ir::scalar::Expr>> rooms_of(const ir::procedure::Procedure& procedure);

// Of local arrays: a bound of how many elements they hold at a time, as a sum of products of
// factors over parameters; factors below zero stand for zero. Arrays that a loop fills which does
// not count, or of an extent that no sum or product of parameters bounds, are missing.
//   for i < n: t = zeros(i + 1); if …: log.append(…)    t: {{n}}, log: {{n}}
using SumOfProducts = std::vector<std::vector<ir::scalar::Expr>>;
std::map<int, SumOfProducts> most_elements(const ir::procedure::Procedure& procedure);

}  // namespace composit::c_family
