// From scalar expressions to tensors: a derivative written once for an element serves whole
// tensors.
#pragma once

#include "composit/ir/node.h"
#include "composit/ir/scalar/expr.h"

#include <vector>

namespace composit::ops {

// The expression over tensors: argument i is values[i], each operation becomes a map node. Empty
// for an expression that cannot be written with the table's rows (bit casts, lookups, loops) or is
// longer than 128 expressions.
ir::Tensor lift(const ir::scalar::Expr& expression, const std::vector<ir::Tensor>& values);

// The transpose of broadcasting: summed over the axes that `shape` was repeated along.
ir::Tensor sum_to_shape(const ir::Tensor& x, const ir::Shape& shape);

// a + b where either may be empty (zero).
ir::Tensor add_gradients(const ir::Tensor& a, const ir::Tensor& b);

}  // namespace composit::ops
