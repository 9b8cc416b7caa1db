// Floats narrower than float32 as bit patterns: conversions from and to double, rounding to nearest
// even.
#pragma once

#include "composit/ir/dtype.h"

#include <cstdint>

namespace composit::ir::scalar {

// The number that the lowest bits mean in a short float's dtype.
double double_from_short(DType dtype, uint64_t bits);
// One rounding. Overflow gives infinity, or NaN where the dtype has none; NaN stays NaN.
uint16_t short_from_double(DType dtype, double value);

}  // namespace composit::ir::scalar
