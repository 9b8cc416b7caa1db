// Sorting and searching: orders along an axis, and what follows from them.
//
// Dtypes are real; NaN come last, bool false first. An axis of nullopt sorts the flattened tensor.
// Every order is stable, whatever NumPy's `kind` asks for. AxisError for an axis out of bounds.
#pragma once

#include "composit/numpy/axis.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace composit::numpy {

// Positions (int64, x's shape, (1,) for 0-d) along the axis in the order of the values. No
// gradient.
[[nodiscard]] Tensor argsort(const Tensor& x, std::optional<int64_t> axis = -1);
// The values in ascending order; the gradient goes where each came from.
[[nodiscard]] Tensor sort(const Tensor& x, std::optional<int64_t> axis = -1);
// numpy.sort_complex of real dtypes: sorted along the last axis, as complex64 for integers of 8 and
// 16 bits, else complex128. NotSupported for complex dtypes.
[[nodiscard]] Tensor sort_complex(const Tensor& x);
// numpy.argpartition and numpy.partition: a full order is a partition at every `kth`. ValueError:
// "kth(=7) out of bounds (5)".
[[nodiscard]] Tensor argpartition(const Tensor& x, const std::vector<int64_t>& kth,
                                  std::optional<int64_t> axis = -1);
[[nodiscard]] Tensor partition(const Tensor& x, const std::vector<int64_t>& kth,
                               std::optional<int64_t> axis = -1);
// The order by the last key, ties by the one before, and so on; keys have one shape. ValueError:
// "all keys need to be the same shape". TypeError without keys.
[[nodiscard]] Tensor lexsort(const std::vector<Tensor>& keys, int64_t axis = -1);

enum class Side { left, right };
// Where each element of `values` belongs in the ascending 1-d `sorted` (int64, values' shape):
// before its equals, or behind them. `sorter`: positions that put `sorted` in order. ValueError:
// "object too deep for desired array".
[[nodiscard]] Tensor searchsorted(const Tensor& sorted, const Tensor& values,
                                  Side side = Side::left, const Tensor& sorter = {});

// The middle value, or the mean of both middle ones, over axes: float64 for integers, x's dtype
// else. NaN where there is one, or nothing.
[[nodiscard]] Tensor median(const Tensor& x, const Axis& axis = {}, bool keepdims = false);

}  // namespace composit::numpy
