// Tangents of expressions: what forward and reverse accumulation share. An empty Expr is zero.
#pragma once

#include "composit/ir/procedure/procedure.h"

#include <set>
#include <vector>

namespace composit::ir::procedure {

// Products and sums that are exact are not written down: times(1, x) is x.
Expr times(const Expr& a, const Expr& b);
Expr sum(const Expr& a, const Expr& b);
Expr zero(DType dtype);

// The tangent of an expression from those of the variables; empty: zero. `known`, where not null,
// is the variable that holds the expression's value already. A choice chooses tangents.
// `has_several`: there will be other tangents of the same values; quotients' tangents are products
// with 1 / divisor then, a number that all of them have in common.
// `infinite`: the variables whose tangents may be infinite (poles.h).
Expr tangent_of(const Expr& value, const std::vector<Expr>& of_variables, const Expr& known,
                bool has_several = false, const std::set<int>& infinite = {});

}  // namespace composit::ir::procedure
