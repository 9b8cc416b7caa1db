// Functions that are others with some arguments fixed, under NumPy's names for them.
#pragma once

#include "composit/numpy/elementwise.h"
#include "composit/numpy/histograms.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/sets.h"

#include <optional>
#include <string_view>
#include <vector>

namespace composit::numpy {

// round
[[nodiscard]] Tensor around(const Operand& x, int64_t decimals = 0);
// concatenate
[[nodiscard]] Tensor concat(const std::vector<Tensor>& parts, std::optional<int64_t> axis = 0,
                            std::optional<DType> dtype = {});
// Reversed along the second axis, or the first. ValueError, AxisError: fewer axes.
[[nodiscard]] Tensor fliplr(const Tensor& x);
[[nodiscard]] Tensor flipud(const Tensor& x);

// The array API standard's parts of unique(x); NaN are different from each other.
[[nodiscard]] Unique unique_all(const Tensor& x);
struct UniqueCounts {
    Tensor values, counts;
};
[[nodiscard]] UniqueCounts unique_counts(const Tensor& x);
struct UniqueInverse {
    Tensor values, inverse;
};
[[nodiscard]] UniqueInverse unique_inverse(const Tensor& x);
[[nodiscard]] Tensor unique_values(const Tensor& x);

// histogramdd of points (x, y): counts of two axes, and two edges. ValueError: lengths differ.
//
//   histogram2d(x, y, {10, 20}).edges[1]
[[nodiscard]] Histogram histogram2d(const Tensor& x, const Tensor& y,
                                    const std::vector<Bins>& bins = {10, 10},
                                    const std::vector<Range>& ranges = {}, bool density = false,
                                    const Tensor& weights = {});

// The smallest dtype to which both cast safely.
[[nodiscard]] DType promote_types(DType a, DType b);
// Whether a rule allows it: "no", "equiv", "safe", "same_kind", "unsafe". ValueError: another.
[[nodiscard]] bool can_cast(DType from, DType to, std::string_view casting = "safe");
// Whether the dtype is of a kind of the array API standard: "bool", "signed integer", "unsigned
// integer", "integral", "real floating", "complex floating", "numeric". ValueError: another.
[[nodiscard]] bool isdtype(DType dtype, std::string_view kind);

}  // namespace composit::numpy
