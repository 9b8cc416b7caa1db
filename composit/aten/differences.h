// PyTorch's differences and integrals along dimensions, and its tensordot.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::aten {

using ir::Tensor;

// Differences to both sides, for each of `dims`, of all dimensions unless given. spacing: one step
// for all of them, or a step or the coordinates for each. RuntimeError, PyTorch's words, for a
// dimension that is there twice and for another number of steps.
[[nodiscard]] std::vector<Tensor> gradient(const Tensor& x,
                                           const std::vector<numpy::Operand>& spacing = {},
                                           const std::optional<std::vector<int64_t>>& dims = {},
                                           int64_t edge_order = 1, bool is_one_step = false);

// The running integral by the trapezoidal rule, at points x, of one dimension or of y's shape, or
// dx apart.
[[nodiscard]] Tensor cumulative_trapezoid(const Tensor& y, const numpy::Operand& x = {},
                                          double dx = 1, int64_t dim = -1);

// Products summed over pairs of dimensions; one of length 1 counts for all of the other's.
[[nodiscard]] Tensor tensordot(const Tensor& a, const Tensor& b, const std::vector<int64_t>& dims_a,
                               const std::vector<int64_t>& dims_b);
// Over the last `count` dimensions of a and the first of b. RuntimeError where there are fewer.
[[nodiscard]] Tensor tensordot(const Tensor& a, const Tensor& b, int64_t count = 2);

}  // namespace composit::aten
