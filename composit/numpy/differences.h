// Differences, running totals and integrals along an axis.
//
// Axes may be negative (AxisError when out of bounds).
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <numbers>
#include <optional>
#include <vector>

namespace composit::numpy {

// numpy.cumulative_sum, numpy.cumulative_prod: cumsum and cumprod, of one dimension unless an axis
// is given (ValueError); include_initial: with a 0 or 1 before them. Dtypes as cumsum's.
[[nodiscard]] Tensor cumulative_sum(const Tensor& x, std::optional<int64_t> axis = {},
                                    std::optional<DType> dtype = {}, bool include_initial = false);
[[nodiscard]] Tensor cumulative_prod(const Tensor& x, std::optional<int64_t> axis = {},
                                     std::optional<DType> dtype = {}, bool include_initial = false);

// numpy.ediff1d: x[i + 1] - x[i] of the flattened x, between the flattened to_begin and to_end, in
// x's dtype. TypeError: "dtype of `to_end` must be compatible with input `ary` under the
// `same_kind` rule"; bool cannot be subtracted.
[[nodiscard]] Tensor ediff1d(const Tensor& x, const Operand& to_end = {},
                             const Operand& to_begin = {});

// numpy.gradient: along each axis (all, or those given), the slope of the parabola through three
// neighbours; at the ends of the line through two (edge_order 1), or of the parabola (2). `spacing`
// is nothing (1), one number, or one number or 1-d coordinates for each axis. x's shape and dtype;
// float64 for integers. TypeError: "invalid number of arguments"; ValueError for coordinates of
// another length, for fewer than edge_order + 1 elements, and for other orders.
//
//   gradient(y, {0.5})[0]
[[nodiscard]] std::vector<Tensor> gradient(const Tensor& x,
                                           const std::vector<Operand>& spacing = {},
                                           const Axis& axis = {}, int64_t edge_order = 1);

// numpy.trapezoid: the integral along an axis by the trapezoidal rule: the sum of
// d (y[i + 1] + y[i]) / 2, where d is dx or x[i + 1] - x[i], x of one dimension or broadcast to y.
[[nodiscard]] Tensor trapezoid(const Tensor& y, const Tensor& x = {}, const Operand& dx = 1.0,
                               int64_t axis = -1);

// numpy.unwrap: whole periods added where neighbours differ by `discont` (half a period unless
// given) or more. The result_type of the differences and the period.
[[nodiscard]] Tensor unwrap(const Tensor& p, const Operand& discont = {}, int64_t axis = -1,
                            const Operand& period = 2 * std::numbers::pi);

}  // namespace composit::numpy
