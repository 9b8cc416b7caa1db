// Bins: which one each value belongs to, and how many belong to each.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>

namespace composit::numpy {

// numpy.digitize: how many of the bins, 1-d and ascending (or descending), each value is behind;
// int64, x's shape. is_right: a value that equals an edge is before it. ValueError: bins that are
// not monotonic, unless they depend on a placeholder. TypeError: complex x.
//
//   digitize(x, array<double>({0, 1, 10}))
[[nodiscard]] Tensor digitize(const Tensor& x, const Tensor& bins, bool is_right = false);

// numpy.bincount: how often each integer from 0 to the largest, at least `least`, occurs in the
// 1-d x (int64), or the sum of its weights (float64; the gradient goes to them). Evaluates x:
// NotSupported under placeholders. ValueError: negative integers, other dimensions, a negative
// `least`; TypeError: an x that is no integer.
[[nodiscard]] Tensor bincount(const Tensor& x, const Tensor& weights = {}, int64_t least = 0);

}  // namespace composit::numpy
