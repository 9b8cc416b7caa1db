// Shapes of PyTorch's sparse tensors, which are coordinates (dimensions, elements) and values.
#pragma once

#include "composit/ir/array.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::aten {

using ir::Shape;

// The shape of a sparse tensor: the given one, or the smallest that holds coordinates from `least`
// to `greatest` of each dimension (both empty where there are no elements), then the lengths of a
// value. RuntimeError, PyTorch's words, for a negative coordinate, and for one beyond the shape.
[[nodiscard]] Shape sparse_size(int64_t dims, const std::vector<int64_t>& least,
                                const std::vector<int64_t>& greatest, const Shape& value,
                                const std::optional<Shape>& given = {});
// How many of a dense tensor's dimensions become coordinates: `sparse`, or all but `dense`.
// TypeError for both, RuntimeError for a number that is not there.
[[nodiscard]] int64_t sparse_dims(int64_t rank, std::optional<int64_t> sparse,
                                  std::optional<int64_t> dense);

}  // namespace composit::aten
