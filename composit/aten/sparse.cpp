// Sparse shapes; elements by one number each, rows first.
#include "composit/aten/sparse.h"

#include "composit/aten/masked.h"
#include "composit/aten/places.h"
#include "composit/base/error.h"
#include "composit/nn/layers.h"
#include "composit/nn/operations.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/sets.h"

#include <algorithm>

namespace composit::aten {
namespace {

int64_t count_of_sparse(const SparseElements& x) { return x.indices.shape().at(0); }

Tensor coordinate(const SparseElements& x, int64_t dim) {
    return numpy::get_item(x.indices, {dim});
}

// Each element's place among all of the sparse dimensions; without one of them.
Tensor flat_places(const SparseElements& x, const Shape& shape, int64_t without = -1) {
    Tensor found;
    for (int64_t dim = 0; dim < count_of_sparse(x); ++dim) {
        if (dim == without) continue;
        const Tensor row = coordinate(x, dim);
        found = found ? found * shape[static_cast<size_t>(dim)] + row : row;
    }
    return found ? found : numpy::zeros({x.indices.shape().at(1)}, ir::DType::int64);
}

Shape behind(int64_t first, const Shape& value) {
    Shape made{first};
    made.insert(made.end(), value.begin() + 1, value.end());
    return made;
}

}  // namespace

Shape sparse_size(int64_t dims, const std::vector<int64_t>& least,
                  const std::vector<int64_t>& greatest, const Shape& value,
                  const std::optional<Shape>& given) {
    if (!least.empty()) {
        const auto lowest = std::ranges::min_element(least);
        user_check<RuntimeError>(*lowest >= 0, "found negative index ", *lowest, " for dim ",
                                 lowest - least.begin());
    }
    Shape ends(static_cast<size_t>(std::max<int64_t>(dims, 0)), 0);
    for (size_t dim = 0; dim < std::min(ends.size(), greatest.size()); ++dim)
        ends[dim] = greatest[dim] + 1;
    if (!given) {
        ends.insert(ends.end(), value.begin(), value.end());
        return ends;
    }
    for (size_t dim = 0; dim < std::min(ends.size(), given->size()); ++dim)
        user_check<RuntimeError>(ends[dim] <= (*given)[dim],
                                 "size is inconsistent with indices: for dim ", dim, ", size is ",
                                 (*given)[dim], " but found index ", ends[dim] - 1);
    return *given;
}

int64_t sparse_dims(int64_t rank, std::optional<int64_t> sparse, std::optional<int64_t> dense) {
    user_check<TypeError>(!sparse || !dense,
                          "to_sparse: sparse_dim and dense_dim are both given. One is required.");
    const int64_t count = sparse ? *sparse : rank - dense.value_or(0);
    const int64_t least = std::min<int64_t>(rank, 1);
    user_check<RuntimeError>(count >= least && count <= rank, "to_sparse: sparse_dim is ", count,
                             " for a tensor of ", rank, " dimensions. From ", least, " to ", rank,
                             " is required.");
    return count;
}

SparseElements coalesce(const SparseElements& x, const Shape& shape) {
    const numpy::Unique kinds = numpy::unique(flat_places(x, shape));
    const Tensor total =
        numpy::zeros(behind(kinds.values.shape().at(0), x.values.shape()), x.values.dtype());
    std::vector<Tensor> rows(static_cast<size_t>(count_of_sparse(x)));
    Tensor rest = kinds.values;
    for (size_t dim = rows.size(); dim-- > 0;) {
        const Tensor length = numpy::Operand(shape[dim]).tensor();
        rows[dim] = numpy::apply("remainder", {rest, length});
        rest = numpy::apply("floor_divide", {rest, length});
    }
    return {numpy::stack(rows), index_add(total, 0, kinds.inverse, x.values)};
}

Tensor sparse_to_dense(const SparseElements& x, const Shape& shape) {
    int64_t count = 1;
    for (int64_t dim = 0; dim < count_of_sparse(x); ++dim) count *= shape[static_cast<size_t>(dim)];
    const Tensor flat = numpy::zeros(behind(count, x.values.shape()), x.values.dtype());
    return numpy::reshape(index_add(flat, 0, flat_places(x, shape), x.values), shape);
}

Tensor sparse_mm(const SparseElements& x, const Shape& shape, const Tensor& dense) {
    user_check<RuntimeError>(shape.size() == 2 && dense.rank() == 2,
                             "mm: two matrices are required.");
    user_check<RuntimeError>(shape[1] == dense.shape()[0], "mm: Argument #3: Expected dim 0 size ",
                             shape[1], ", got ", dense.shape()[0]);
    const Tensor terms = numpy::expand_dims(x.values, 1) * index_select(dense, 0, coordinate(x, 1));
    const Tensor zeros = numpy::zeros({shape[0], dense.shape()[1]}, terms.dtype());
    return index_add(zeros, 0, coordinate(x, 0), terms);
}

Tensor sparse_softmax(const SparseElements& x, const Shape& shape, int64_t dim, bool is_log) {
    const auto rank = static_cast<int64_t>(shape.size());
    user_check<IndexError>(dim >= -rank && dim < rank,
                           "Dimension out of range (expected to be in range of [", -rank, ", ",
                           rank - 1, "], but got ", dim, ")");
    dim = dim < 0 ? dim + rank : dim;
    const int64_t first = count_of_sparse(x);
    if (dim >= first) {
        const int64_t axis = dim - first + 1;
        return is_log ? nn::log_softmax(x.values, axis) : nn::softmax(x.values, axis);
    }
    if (x.indices.shape().at(1) == 0) return x.values;
    // Elements with the same coordinates but for this dimension's are one row.
    const numpy::Unique rows = numpy::unique(flat_places(x, shape, dim));
    return group_softmax(x.values, rows.inverse, rows.values.shape().at(0), is_log);
}

}  // namespace composit::aten
