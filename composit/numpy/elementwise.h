// Elementwise functions: every row of the scalar table, applied by name.
//
// A function of its own for each row (`exp(x)`, `add(x1, x2)`, …) is in composit/numpy/functions.h,
// which the build writes from the table: a new row is a new function with no further edit.
#pragma once

#include "composit/ir/scalar/row.h"
#include "composit/numpy/operand.h"

#include <string_view>
#include <vector>

namespace composit::numpy {

// The row (or alias) over the operands under NumPy's broadcasting and promotion: one node.
// KeyError: no such row; TypeError: wrong count or dtypes, NumPy's words; ValueError: shapes do not
// broadcast.
//
//   apply("logaddexp", {x, 0.0})
[[nodiscard]] Tensor apply(std::string_view row, const std::vector<Operand>& operands);

// The same of a row that is at hand (ir/scalar/row.h).
//
//   apply_row(row, x, y)
[[nodiscard]] Tensor apply_row(const ir::scalar::RowRef& row, std::vector<Tensor> operands);
template <std::convertible_to<const Tensor&>... Operands>
[[nodiscard]] Tensor apply_row(const ir::scalar::RowRef& row, const Operands&... operands) {
    std::vector<Tensor> list;
    list.reserve(sizeof...(operands));
    (list.push_back(static_cast<const Tensor&>(operands)), ...);
    return apply_row(row, std::move(list));
}

// The same, computed in and returning `dtype`, as a ufunc's dtype=. TypeError where NumPy's
// casting="same_kind" forbids it.
[[nodiscard]] Tensor apply(std::string_view row, const std::vector<Operand>& operands, DType dtype);

// The rank of dtype's kind, bool < unsigned < signed < floating < complex: casting="same_kind"
// allows a cast that does not lower it.
[[nodiscard]] int kind_rank(DType dtype);

// x between low and high; either may be Operand(), "not given". NaN stays NaN; low > high gives
// high. The gradient passes where low <= x <= high, as torch.clamp's.
[[nodiscard]] Tensor clip(const Operand& x, const Operand& low, const Operand& high);

// x rounded to `decimals` places, halves to even, NumPy's way: rint(x 10^decimals) / 10^decimals,
// in x's dtype. Integers stay as they are; before the point (decimals < 0) they go by float64.
// TypeError for bool with decimals other than 0.
[[nodiscard]] Tensor round(const Operand& x, int64_t decimals = 0);

// x ** y, NumPy's operator: power, but for the Python numbers 2, 0.5, 1 and -1 as exponents of
// floating bases (2 of integers too), which are square, sqrt, positive and reciprocal there.
// ValueError for integers to a constant negative integer power.
[[nodiscard]] Tensor raised(const Operand& x, const Operand& y);

// Functions of two results, two rows each.
//
// (floor_divide(x1, x2), remainder(x1, x2))
[[nodiscard]] std::vector<Tensor> divmod(const Operand& x1, const Operand& x2);
// (mantissa, exponent): x = mantissa 2^exponent, |mantissa| in [1/2, 1), the exponent int32; (x, 0)
// for 0, infinities and NaN
[[nodiscard]] std::vector<Tensor> frexp(const Operand& x);
// (fraction, integer), both with the sign of x; the fraction of an infinity is 0
[[nodiscard]] std::vector<Tensor> modf(const Operand& x);

}  // namespace composit::numpy
