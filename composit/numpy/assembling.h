// Larger tensors put together of parts, and parts taken off them, in NumPy's less common ways.
//
// Operands that are joined are promoted to their result_type. Each function is NumPy's of that name
// (numpy.column_stack, …); gradients and batching follow from the operations that they are made of.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::numpy {

// Columns beside one another: parts of 0 or 1 dimensions (n,) become (n, 1), others stay.
// ValueError as concatenate's.
[[nodiscard]] Tensor column_stack(const std::vector<Tensor>& parts);
// Axes of length 1 in front, so that there are `rank` at least.
[[nodiscard]] Tensor with_rank(const Tensor& x, int64_t rank);
// vstack's old name.
[[nodiscard]] Tensor row_stack(const std::vector<Tensor>& parts);

// split along axis 1 (axis 0 of 1-d), 0, 2. ValueError: "hsplit only works on arrays of 1 or more
// dimensions" (vsplit: 2, dsplit: 3), and split's.
[[nodiscard]] std::vector<Tensor> hsplit(const Tensor& x, int64_t sections);
[[nodiscard]] std::vector<Tensor> hsplit(const Tensor& x, const std::vector<int64_t>& indices);
[[nodiscard]] std::vector<Tensor> vsplit(const Tensor& x, int64_t sections);
[[nodiscard]] std::vector<Tensor> vsplit(const Tensor& x, const std::vector<int64_t>& indices);
[[nodiscard]] std::vector<Tensor> dsplit(const Tensor& x, int64_t sections);
[[nodiscard]] std::vector<Tensor> dsplit(const Tensor& x, const std::vector<int64_t>& indices);
// x[0], x[1], … of an axis. ValueError: "Input array must be at least 1-d.".
[[nodiscard]] std::vector<Tensor> unstack(const Tensor& x, int64_t axis = 0);

// A tensor, or a list of blocks.
//
//   block({{{a}, {b}}, {{c}, {d}}})
struct Block {
    Block(Tensor tensor) : tensor(std::move(tensor)) {}
    Block(std::vector<Block> parts) : parts(std::move(parts)) {}

    Tensor tensor;  // of a leaf only
    std::vector<Block> parts;
};
// Innermost lists are joined along the last axis, those around them along the one before, …; leaves
// get leading axes of length 1. ValueError: lists of different depths, empty lists, more than 64
// levels, shapes that do not fit.
[[nodiscard]] Tensor block(const Block& blocks);

// The flattened x on the k-th diagonal of a square of zeros.
[[nodiscard]] Tensor diagflat(const Tensor& x, int64_t k = 0);
// Powers of a 1-d x as columns, x^(columns-1) … x^0, or increasing; columns is x.size() unless
// given. The dtype is x's promoted with int64; powers are running products. ValueError: "x must be
// a one-dimensional array or sequence.", negative columns.
[[nodiscard]] Tensor vander(const Tensor& x, std::optional<int64_t> columns = {},
                            bool increasing = false);
// Kronecker's product: blocks a[i, j, …] * b; shapes multiply, the shorter with leading ones.
[[nodiscard]] Tensor kron(const Tensor& a, const Tensor& b);

// ----- products of stacks; leading axes broadcast, sums as matmul's. ValueError as matmul's.
// (…, m, n), (…, n) -> (…, m)
[[nodiscard]] Tensor matvec(const Tensor& a, const Tensor& b);
// (…, n), (…, n, m) -> (…, m)
[[nodiscard]] Tensor vecmat(const Tensor& a, const Tensor& b);
// Sums over one axis of both, which the others broadcast around. AxisError.
[[nodiscard]] Tensor vecdot(const Tensor& a, const Tensor& b, int64_t axis = -1);

}  // namespace composit::numpy
