// column_stack, block and others out of concatenations; kron, vander and stacks of products.
#include "composit/numpy/assembling.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/check.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <cmath>

namespace composit::numpy {
namespace {

using Axes = std::vector<int64_t>;

// The axis that hsplit and its like cut, for x's rank.
int64_t split_axis(std::string_view function, const Tensor& x, int least, int64_t axis) {
    user_check(x.rank() >= least, function, " only works on arrays of ", least,
               " or more dimensions, not ", x.rank(), ".");
    return std::min<int64_t>(axis, x.rank() - 1);
}

template <class Where>
std::vector<Tensor> split_as(std::string_view function, const Tensor& x, const Where& where,
                             int least, int64_t axis) {
    const int64_t along = split_axis(function, x, least, axis);
    return errors_as(function, [&] { return split(x, where, along); });
}

constexpr int most_levels = 64;

// How deep the lists go; all leaves must be equally deep.
int depth_of(const Block& blocks, int level = 0) {
    if (blocks.tensor) return level;
    user_check(level < most_levels, "block: lists are nested more than ", most_levels,
               " deep. Fewer levels are required.");
    user_check(!blocks.parts.empty(), "block: list ", level, " levels deep cannot be empty.");
    const int depth = depth_of(blocks.parts[0], level + 1);
    for (const Block& part : blocks.parts) {
        const int other = depth_of(part, level + 1);
        user_check(other == depth, "block: list depths are mismatched: ", depth, " and ", other,
                   " levels. All tensors must be equally deep.");
    }
    return depth;
}

int widest(const Block& blocks) {
    if (blocks.tensor) return blocks.tensor.rank();
    int rank = 0;
    for (const Block& part : blocks.parts) rank = std::max(rank, widest(part));
    return rank;
}

Tensor with_rank(const Tensor& x, int rank) {
    Shape shape = x.shape();
    shape.insert(shape.begin(), static_cast<size_t>(std::max(0, rank - x.rank())), 1);
    return reshape(x, shape);
}

// Joins along the axis `depth` from the end, and what is within along later ones.
Tensor joined(const Block& blocks, int depth, int rank) {
    if (blocks.tensor) return with_rank(blocks.tensor, rank);
    std::vector<Tensor> parts;
    for (const Block& part : blocks.parts) parts.push_back(joined(part, depth - 1, rank));
    return concatenate(parts, -depth);
}

}  // namespace

Tensor with_rank(const Tensor& x, int64_t rank) {
    if (x.rank() >= rank) return x;
    Shape shape(static_cast<size_t>(rank - x.rank()), 1);
    shape.insert(shape.end(), x.shape().begin(), x.shape().end());
    return reshape(x, shape);
}

Tensor column_stack(const std::vector<Tensor>& parts) {
    return errors_as("column_stack", [&] {
        std::vector<Tensor> columns;
        for (const Tensor& x : parts)
            columns.push_back(x.rank() < 2 ? reshape(x, {x.size(), 1}) : x);
        return concatenate(columns, 1);
    });
}

Tensor row_stack(const std::vector<Tensor>& parts) {
    return errors_as("row_stack", [&] { return vstack(parts); });
}

std::vector<Tensor> hsplit(const Tensor& x, int64_t sections) {
    return split_as("hsplit", x, sections, 1, 1);
}
std::vector<Tensor> hsplit(const Tensor& x, const Axes& indices) {
    return split_as("hsplit", x, indices, 1, 1);
}
std::vector<Tensor> vsplit(const Tensor& x, int64_t sections) {
    return split_as("vsplit", x, sections, 2, 0);
}
std::vector<Tensor> vsplit(const Tensor& x, const Axes& indices) {
    return split_as("vsplit", x, indices, 2, 0);
}
std::vector<Tensor> dsplit(const Tensor& x, int64_t sections) {
    return split_as("dsplit", x, sections, 3, 2);
}
std::vector<Tensor> dsplit(const Tensor& x, const Axes& indices) {
    return split_as("dsplit", x, indices, 3, 2);
}

std::vector<Tensor> unstack(const Tensor& x, int64_t axis) {
    user_check(x.rank() > 0, "unstack: Input array must be at least 1-d.");
    const int64_t along = normalize_axis("unstack", axis, x.rank());
    const int64_t count = x.shape()[static_cast<size_t>(along)];
    if (count == 0) return {};
    std::vector<Tensor> result;
    for (const Tensor& layer : errors_as("unstack", [&] { return split(x, count, along); }))
        result.push_back(squeeze(layer, along));
    return result;
}

Tensor block(const Block& blocks) {
    const int depth = depth_of(blocks), rank = std::max(depth, widest(blocks));
    return errors_as("block", [&] { return joined(blocks, depth, rank); });
}

Tensor diagflat(const Tensor& x, int64_t k) {
    return errors_as("diagflat", [&] { return diag(ravel(x), k); });
}

Tensor vander(const Tensor& x, std::optional<int64_t> columns, bool increasing) {
    user_check(x.rank() == 1, "vander: x must be a one-dimensional array or sequence, not ",
               x.shape(), ".");
    const int64_t rows = x.size(), count = columns.value_or(rows);
    user_check(count >= 0, "vander: negative dimensions are not allowed: ", count, " columns.");
    const DType dtype = ir::promote(x.dtype(), DType::int64);
    return errors_as("vander", [&] {
        if (count == 0) return zeros({rows, 0}, dtype);
        ir::check_shape("vander", {rows, count});
        const Tensor first = ops::full({rows, 1}, scalar(dtype, 1));
        if (count == 1) return first;
        const Tensor column = reshape(ops::astype(x, dtype), {rows, 1});
        const Tensor powers =
            ops::scan(ops::Combiner::product, broadcast_to(column, {rows, count - 1}), 1);
        const Tensor result = concatenate({first, powers}, 1);
        return increasing ? result : flip(result, 1);
    });
}

Tensor kron(const Tensor& a, const Tensor& b) {
    return errors_as("kron", [&] {
        const int rank = std::max(a.rank(), b.rank());
        const Tensor left = with_rank(a, rank), right = with_rank(b, rank);
        Shape outer, inner, result;
        for (size_t d = 0; d < left.shape().size(); ++d) {
            outer.insert(outer.end(), {left.shape()[d], 1});
            inner.insert(inner.end(), {1, right.shape()[d]});
            result.push_back(left.shape()[d] * right.shape()[d]);
        }
        return reshape(
            apply("multiply", {reshape(strong(left), outer), reshape(strong(right), inner)}),
            result);
    });
}

Tensor matvec(const Tensor& a, const Tensor& b) {
    user_check(a.rank() >= 2 && b.rank() >= 1, "matvec: a has shape ", a.shape(), ", b has shape ",
               b.shape(), ". At least 2 and 1 dimensions are required.");
    static const ir::Interned name = ir::intern("matvec");
    const ir::ReportingScope reporting(name);
    return errors_as("matvec", [&] { return squeeze(matmul(a, expand_dims(b, -1)), -1); });
}

namespace {

// The first vector of a product of two, as mathematics has it.
Tensor conjugated(const Tensor& x) {
    return ir::is_complex(x.dtype()) ? apply("conjugate", {x}) : x;
}

}  // namespace

Tensor vecmat(const Tensor& a, const Tensor& b) {
    user_check(a.rank() >= 1 && b.rank() >= 2, "vecmat: a has shape ", a.shape(), ", b has shape ",
               b.shape(), ". At least 1 and 2 dimensions are required.");
    static const ir::Interned name = ir::intern("vecmat");
    const ir::ReportingScope reporting(name);
    return errors_as("vecmat",
                     [&] { return squeeze(matmul(expand_dims(conjugated(a), -2), b), -2); });
}

Tensor vecdot(const Tensor& a, const Tensor& b, int64_t axis) {
    user_check(a.rank() >= 1 && b.rank() >= 1, "vecdot: a has shape ", a.shape(), ", b has shape ",
               b.shape(), ". At least 1 dimension is required.");
    static const ir::Interned name = ir::intern("vecdot");
    const ir::ReportingScope reporting(name);
    return errors_as("vecdot", [&] {
        const Tensor left = moveaxis(conjugated(a), axis, -1), right = moveaxis(b, axis, -1);
        user_check(left.shape().back() == right.shape().back(), "vecdot: a has shape ", a.shape(),
                   ", b has shape ", b.shape(), ". Equal lengths along axis ", axis,
                   " are required.");
        const Tensor product = matmul(expand_dims(left, -2), expand_dims(right, -1));
        return squeeze(product, {-2, -1});
    });
}

}  // namespace composit::numpy
