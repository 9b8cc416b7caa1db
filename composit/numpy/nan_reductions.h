// Reductions and running totals that pass over NaN.
//
// axis, dtype, keepdims, initial, `where` and dtypes of results as in composit/numpy/reductions.h;
// integers and bool have no NaN and are reduced as there. Slices of nothing but NaN give what is
// said below, without NumPy's RuntimeWarning. NotSupported for complex dtypes.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <optional>

namespace composit::numpy {

// numpy.nansum, numpy.nanprod: NaN counts as 0, as 1.
[[nodiscard]] Tensor nansum(const Tensor& x, const Axis& axis = {}, std::optional<DType> dtype = {},
                            bool keepdims = false, const Operand& initial = {},
                            const Tensor& where = {});
[[nodiscard]] Tensor nanprod(const Tensor& x, const Axis& axis = {},
                             std::optional<DType> dtype = {}, bool keepdims = false,
                             const Operand& initial = {}, const Tensor& where = {});

// numpy.nanmax, numpy.nanmin: NaN where there is nothing else. ValueError: "zero-size array to
// reduction operation maximum which has no identity" without `initial`; `where` needs `initial`.
[[nodiscard]] Tensor nanmax(const Tensor& x, const Axis& axis = {}, bool keepdims = false,
                            const Operand& initial = {}, const Tensor& where = {});
[[nodiscard]] Tensor nanmin(const Tensor& x, const Axis& axis = {}, bool keepdims = false,
                            const Operand& initial = {}, const Tensor& where = {});

// numpy.nanmean: the sum over the count of what is not NaN; NaN where nothing is. TypeError: "If a
// is inexact, then dtype must be inexact". One node.
[[nodiscard]] Tensor nanmean(const Tensor& x, const Axis& axis = {},
                             std::optional<DType> dtype = {}, bool keepdims = false,
                             const Tensor& where = {});
// numpy.nanvar: the sum of (x - mean)^2 over count - ddof; NaN where that is not positive. `mean`
// (shaped as nanmean's with keepdims) is computed unless given. nanstd is its square root. One
// node each.
[[nodiscard]] Tensor nanvar(const Tensor& x, const Axis& axis = {}, std::optional<DType> dtype = {},
                            double ddof = 0, bool keepdims = false, const Tensor& where = {},
                            const Tensor& mean = {});
[[nodiscard]] Tensor nanstd(const Tensor& x, const Axis& axis = {}, std::optional<DType> dtype = {},
                            double ddof = 0, bool keepdims = false, const Tensor& where = {},
                            const Tensor& mean = {});

// numpy.nanargmax, numpy.nanargmin: int64 positions of the first extremum among what is not NaN.
// ValueError: "All-NaN slice encountered", for which floats are evaluated when this is called:
// NotSupported, by name, when they depend on a placeholder.
[[nodiscard]] Tensor nanargmax(const Tensor& x, std::optional<int64_t> axis = {},
                               bool keepdims = false);
[[nodiscard]] Tensor nanargmin(const Tensor& x, std::optional<int64_t> axis = {},
                               bool keepdims = false);

// numpy.nancumsum, numpy.nancumprod: running totals in which NaN counts as 0, as 1.
[[nodiscard]] Tensor nancumsum(const Tensor& x, std::optional<int64_t> axis = {},
                               std::optional<DType> dtype = {});
[[nodiscard]] Tensor nancumprod(const Tensor& x, std::optional<int64_t> axis = {},
                                std::optional<DType> dtype = {});

}  // namespace composit::numpy
