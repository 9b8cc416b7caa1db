// Short floats in expressions over the dtypes that kernels have: bits in memory, float32 in
// between.
#pragma once

#include "composit/ir/scalar/expr.h"

namespace composit::ir::scalar {

// The nearest value of the short float `dtype`, ties to even, as float32; x is float32, float64 or
// an integer, and is rounded once.
Expr rounded_to_short(const Expr& x, DType dtype);
// An unsigned integer of its size, of a float32 that is a value of `dtype`, and the way back.
Expr bits_of_short(const Expr& x, DType dtype);
Expr short_of_bits(const Expr& bits, DType dtype);

}  // namespace composit::ir::scalar
