// Counts and middles of elements.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace composit::aten {

using ir::Tensor;

// The most frequent element along an axis, the lowest of several, and its last place.
[[nodiscard]] std::pair<Tensor, Tensor> mode(const Tensor& x, int64_t dim = -1,
                                             bool keepdim = false);
// The middle of the elements that are numbers, the lower of two, and its place; along the flattened
// tensor unless an axis is given.
[[nodiscard]] std::pair<Tensor, Tensor> nanmedian(const Tensor& x, std::optional<int64_t> dim = {},
                                                  bool keepdim = false);
// How many elements are in each of so many equal parts between `min` and `max`, or, where they are
// equal, between the least and the largest element. NotSupported for integers.
[[nodiscard]] Tensor histc(const Tensor& x, int64_t bins = 100, double min = 0, double max = 0);
// Places of the flattened tensor as those of one of a shape.
[[nodiscard]] std::vector<Tensor> unravel_index(const Tensor& indices, const ir::Shape& shape);
// The matrix products of groups of rows with the matrix of their group: rows before ends[0] with
// matrices[0], from there to ends[1] with matrices[1], …; rows behind the last are zeros.
[[nodiscard]] Tensor grouped_product(const Tensor& rows, const Tensor& matrices,
                                     const Tensor& ends);
// Slices along an axis made shorter where their p-norm is above `maxnorm`.
[[nodiscard]] Tensor renorm(const Tensor& x, double p, int64_t dim, double maxnorm);

}  // namespace composit::aten
