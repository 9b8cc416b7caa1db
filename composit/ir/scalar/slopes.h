// Products of gradients with slopes that may be infinite.
#pragma once

#include "composit/ir/scalar/expr.h"

namespace composit::ir::scalar {

// g * slope. Where the slope is infinite somewhere at which the function has a value (sqrt, log and
// powers at 0, arccos at 1), it is 0 where g is: a path that was not taken, or a value that is not
// used, has no part in a derivative. So sqrt(max(x, 0)) at -1 has the slope 0, in both directions.
// It is an Expr::product_with(g, …) then. In graphs one is a row of its own, which is linear in g,
// as who goes through a gradient forward relies on.
Expr times_slope(const Expr& g, const Expr& slope);

}  // namespace composit::ir::scalar
