// float16 and bfloat16 as bit patterns: conversions from and to double, rounding to nearest even.
#pragma once

#include <cstdint>

namespace composit::ir::scalar {

double double_from_float16(uint16_t bits);
double double_from_bfloat16(uint16_t bits);
uint16_t float16_from_double(double value);  // one rounding; overflow gives infinity; NaN stays NaN
uint16_t bfloat16_from_double(double value);

}  // namespace composit::ir::scalar
