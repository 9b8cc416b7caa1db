// What Python's operator ** is, for who computes it without nodes (see raised in elementwise.h).
#pragma once

#include "composit/numpy/operand.h"

#include <string_view>

namespace composit::numpy {

// The row that computes x ** exponent for one of Python's numbers, where NumPy computes another one
// than power: square, cube, sqrt, positive or reciprocal. Else empty.
[[nodiscard]] std::string_view row_of_power(double exponent, DType exponents, DType base);

}  // namespace composit::numpy
