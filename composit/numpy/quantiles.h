// Quantiles: where a share of the values lies below.
//
// Common to all: `q` (0-d, 1-d or 2-d) are shares from 0 to 1, percentages from 0 to 100 for
// percentile and nanpercentile; the dimensions of the result are those of q, then x's without the
// axes (None: all), which keepdims keeps with length 1. Real dtypes. Methods are NumPy's:
// "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
// "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher",
// "midpoint", "nearest"; the gradient goes to the values between which the quantile lies, and to q.
// `weights` (x's shape, or the lengths of the axes) for "inverted_cdf" only. ValueError: q out of
// range, negative weights or weights that sum up to 0; where q or the weights depend on a
// placeholder that is not checked.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <string_view>

namespace composit::numpy {

// numpy.quantile, numpy.percentile: NaN where there is one. x's dtype for the methods that pick a
// value, its result_type with q else, at least float64 for integers. One node.
//
//   quantile(x, 0.5, 1)
[[nodiscard]] Tensor quantile(const Tensor& x, const Operand& q, const Axis& axis = {},
                              std::string_view method = "linear", bool keepdims = false,
                              const Tensor& weights = {});
[[nodiscard]] Tensor percentile(const Tensor& x, const Operand& q, const Axis& axis = {},
                                std::string_view method = "linear", bool keepdims = false,
                                const Tensor& weights = {});
// The same of what is not NaN; NaN where nothing is. Of no elements it is nanmean, whatever q.
[[nodiscard]] Tensor nanquantile(const Tensor& x, const Operand& q, const Axis& axis = {},
                                 std::string_view method = "linear", bool keepdims = false,
                                 const Tensor& weights = {});
[[nodiscard]] Tensor nanpercentile(const Tensor& x, const Operand& q, const Axis& axis = {},
                                   std::string_view method = "linear", bool keepdims = false,
                                   const Tensor& weights = {});
// numpy.nanmedian: median of what is not NaN; dtypes as median's. One node.
[[nodiscard]] Tensor nanmedian(const Tensor& x, const Axis& axis = {}, bool keepdims = false);

}  // namespace composit::numpy
