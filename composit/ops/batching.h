// What batch rules have in common: a leading axis added to shapes, axes and tensors.
#pragma once

#include "composit/ops/ops.h"

#include <vector>

namespace composit::ops {

using Batched = std::vector<bool>;

// `first` before the values.
Axes prefixed(int64_t first, const Axes& values);
// Axes of a tensor that got a leading axis.
Axes moved_right(const Axes& axes);
// x with a leading axis of that length: repeated when it has none yet.
Tensor with_batch(const Tensor& x, bool is_batched, int64_t batch_size);
// A batched x, with axes of length 1 after the leading one until it has `rank` axes without it.
Tensor with_rank(const Tensor& x, int rank);
// The axis made the first one.
Tensor axis_to_front(const Tensor& x, int64_t axis);

}  // namespace composit::ops
