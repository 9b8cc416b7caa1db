// The table of a lookup as an array.
#pragma once

#include "composit/ir/array.h"
#include "composit/ir/scalar/expr.h"

namespace composit::ir::scalar {

// One dimension, of the lookup's dtype.
Array table_values(const Expr& lookup);

}  // namespace composit::ir::scalar
