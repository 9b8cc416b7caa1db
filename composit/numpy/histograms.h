// Histograms: edges of bins, and how many values, or what sum of weights, lies between them.
//
// Each function is NumPy's of that name. Bins are a count of equal ones, edges (1-d, ascending),
// or for one dimension the name of an estimator: "auto", "doane", "fd", "rice", "scott", "sqrt",
// "stone", "sturges", which evaluates the values (NotSupported under placeholders). A value belongs
// to the bin whose lower edge it reaches; the upper edge of the last belongs to it. What is
// outside, and NaN, counts nowhere. The range is that of the values unless given. ValueError:
// ranges that are not finite, edges that fall, fewer than one bin; not checked where they depend on
// a placeholder. The gradient goes to the weights.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace composit::numpy {

using Bins = std::variant<int64_t, std::string, Tensor>;
using Range = std::optional<std::pair<Operand, Operand>>;

// The edges: one more than bins.
[[nodiscard]] Tensor histogram_bin_edges(const Tensor& x, const Bins& bins = 10,
                                         const Range& range = {}, const Tensor& weights = {});

struct Histogram {
    Tensor counts;  // int64, or the weights' dtype; float64 with density
    std::vector<Tensor> edges;
};
// density: over the total and the width of the bin. Weights have x's shape.
//
//   histogram(x, 20).counts
[[nodiscard]] Histogram histogram(const Tensor& x, const Bins& bins = 10, const Range& range = {},
                                  bool density = false, const Tensor& weights = {});

// Of points, rows of a (count, dimensions) sample: bins and ranges for each dimension; counts are
// float64, of one axis per dimension.
[[nodiscard]] Histogram histogramdd(const Tensor& sample, const std::vector<Bins>& bins,
                                    const std::vector<Range>& ranges = {}, bool density = false,
                                    const Tensor& weights = {});

}  // namespace composit::numpy
