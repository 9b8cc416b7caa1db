// 16-bit floats in expressions over the dtypes that kernels have: bits in memory, float32 in
// between.
#pragma once

#include "composit/ir/scalar/expr.h"

namespace composit::ir::scalar {

// The nearest value of `half`, ties to even, as float32; x is float32, float64 or an
// integer, and is rounded once.
Expr rounded_to_half(const Expr& x, DType half);
// uint16 of a float32 that is a value of `half`, and the way back.
Expr bits_of_half(const Expr& x, DType half);
Expr half_of_bits(const Expr& bits, DType half);

}  // namespace composit::ir::scalar
