// Reductions and running totals, with NumPy's accumulator dtypes, axis, keepdims, initial and
// where.
//
// Common to all: axis None is every axis, an int or a tuple some of them (AxisError when out of
// bounds, ValueError for a duplicate); keepdims keeps reduced axes with length 1; `where` (bool,
// broadcast to x) picks the elements that count; `initial` joins the result once. An Operand() is
// "not given".
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <optional>

namespace composit::numpy {

// Sums and products of bool and integers narrower than 64 bits are int64 (uint64 for unsigned
// ones); others keep x's dtype. `dtype`: elements are converted before they are combined.
[[nodiscard]] Tensor sum(const Tensor& x, const Axis& axis = {}, std::optional<DType> dtype = {},
                         bool keepdims = false, const Operand& initial = {},
                         const Tensor& where = {});
[[nodiscard]] Tensor prod(const Tensor& x, const Axis& axis = {}, std::optional<DType> dtype = {},
                          bool keepdims = false, const Operand& initial = {},
                          const Tensor& where = {});

// NaN wins. ValueError: "zero-size array to reduction operation maximum which has no identity"
// without `initial`; `where` needs `initial` too. The gradient is shared equally among ties.
[[nodiscard]] Tensor max(const Tensor& x, const Axis& axis = {}, bool keepdims = false,
                         const Operand& initial = {}, const Tensor& where = {});
[[nodiscard]] Tensor min(const Tensor& x, const Axis& axis = {}, bool keepdims = false,
                         const Operand& initial = {}, const Tensor& where = {});
[[nodiscard]] Tensor amax(const Tensor& x, const Axis& axis = {}, bool keepdims = false,
                          const Operand& initial = {}, const Tensor& where = {});
[[nodiscard]] Tensor amin(const Tensor& x, const Axis& axis = {}, bool keepdims = false,
                          const Operand& initial = {}, const Tensor& where = {});
// max - min
[[nodiscard]] Tensor ptp(const Tensor& x, const Axis& axis = {}, bool keepdims = false);

// sum / count. bool and integers are averaged in float64, float16 in float32 (and returned as
// float16). One node.
[[nodiscard]] Tensor mean(const Tensor& x, const Axis& axis = {}, std::optional<DType> dtype = {},
                          bool keepdims = false, const Tensor& where = {});
// mean((x - mean(x))^2) * n / max(n - ddof, 0), dtypes as mean's; std is its square root. `mean`
// (shaped as mean's with keepdims) is computed unless given. One node each. TypeError: std in an
// integer dtype, but for one number. Of real numbers in a complex dtype the squares are taken as
// they are, and the result is complex.
[[nodiscard]] Tensor var(const Tensor& x, const Axis& axis = {}, std::optional<DType> dtype = {},
                         double ddof = 0, bool keepdims = false, const Tensor& where = {},
                         const Tensor& mean = {});
[[nodiscard]] Tensor std(const Tensor& x, const Axis& axis = {}, std::optional<DType> dtype = {},
                         double ddof = 0, bool keepdims = false, const Tensor& where = {},
                         const Tensor& mean = {});
// sum(x * weights) / sum(weights); weights have x's shape, or one dimension with one integer axis.
[[nodiscard]] Tensor average(const Tensor& x, const Axis& axis = {}, const Tensor& weights = {},
                             bool keepdims = false);
// The same with the sums of the weights, of the average's shape and dtype. ZeroDivisionError where
// they are 0, or there is no average at all.
struct AverageAndWeights {
    Tensor average, weights;
};
[[nodiscard]] AverageAndWeights average_and_weights(const Tensor& x, const Axis& axis = {},
                                                    const Tensor& weights = {},
                                                    bool keepdims = false);

// int64 position of the first extremum (the first NaN if there is one) along one axis, or of the
// flattened x. ValueError: "attempt to get argmax of an empty sequence". No derivative.
[[nodiscard]] Tensor argmax(const Tensor& x, std::optional<int64_t> axis = {},
                            bool keepdims = false);
[[nodiscard]] Tensor argmin(const Tensor& x, std::optional<int64_t> axis = {},
                            bool keepdims = false);

// bool: whether any, all elements are not zero. int64: how many.
[[nodiscard]] Tensor any(const Tensor& x, const Axis& axis = {}, bool keepdims = false,
                         const Tensor& where = {});
[[nodiscard]] Tensor all(const Tensor& x, const Axis& axis = {}, bool keepdims = false,
                         const Tensor& where = {});
[[nodiscard]] Tensor count_nonzero(const Tensor& x, const Axis& axis = {}, bool keepdims = false);

// Running totals along one axis, or of the flattened x; dtypes as sum's.
[[nodiscard]] Tensor cumsum(const Tensor& x, std::optional<int64_t> axis = {},
                            std::optional<DType> dtype = {});
[[nodiscard]] Tensor cumprod(const Tensor& x, std::optional<int64_t> axis = {},
                             std::optional<DType> dtype = {});

}  // namespace composit::numpy
