// Python numbers among operands: their values, and arithmetic that keeps them weak.
#pragma once

#include "composit/numpy/operand.h"

#include <optional>
#include <string_view>

namespace composit::numpy {

// The value of a Python number, which is a weak leaf; nothing for tensors and complex numbers.
[[nodiscard]] std::optional<double> literal(const Tensor& x);

// A row of two operands: add, subtract, multiply, divide, floor_divide or remainder. Between two
// Python numbers it is Python's operator, whose result is a Python number again, as in NumPy, where
// 2.0 * dx / 3 of a number dx takes part in promotion by its kind only.
[[nodiscard]] Tensor combined(std::string_view row, const Operand& a, const Operand& b);

}  // namespace composit::numpy
