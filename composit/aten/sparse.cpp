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
#include <numeric>
#include <utility>

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

// Coordinates and values are the elements of one sparse tensor, of the given shape where there is
// one.
void check_sparse_elements(const Shape& indices, const Shape& values,
                           const std::optional<Shape>& given) {
    const auto sparse = indices.empty() ? int64_t{0} : indices[0];
    const auto dense = static_cast<int64_t>(values.size()) - 1;
    user_check<RuntimeError>(!given || static_cast<int64_t>(given->size()) == sparse + dense,
                             "'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = ",
                             given ? given->size() : 0, ", sparse_dim = ", sparse,
                             ", dense_dim = ", dense);
    user_check<RuntimeError>(indices.size() == 2, "indices must be sparse_dim x nnz, but got: [",
                             join(indices), "]");
    user_check<RuntimeError>(indices[1] == values.at(0),
                             "indices and values must have same nnz, but got nnz from indices: ",
                             indices[1], ", nnz from values: ", values[0]);
    if (!given) return;
    for (const int64_t length : *given)
        user_check<RuntimeError>(length >= 0, "Trying to create tensor with negative dimension ",
                                 length, ": [", join(*given), "]");
    Shape wanted{values[0]};
    wanted.insert(wanted.end(), given->begin() + sparse, given->end());
    user_check<RuntimeError>(values == wanted, "values has incorrect size, expected [",
                             join(wanted), "], got [", join(values), "]");
}

}  // namespace

Shape sparse_size(const Shape& indices, const Shape& values, const std::vector<int64_t>& least,
                  const std::vector<int64_t>& greatest, const std::optional<Shape>& given) {
    check_sparse_elements(indices, values, given);
    if (!least.empty()) {
        const auto lowest = std::ranges::min_element(least);
        user_check<RuntimeError>(*lowest >= 0, "found negative index ", *lowest, " for dim ",
                                 lowest - least.begin());
    }
    Shape ends(static_cast<size_t>(indices[0]), 0);
    for (size_t dim = 0; dim < std::min(ends.size(), greatest.size()); ++dim)
        ends[dim] = greatest[dim] + 1;
    if (!given) {
        ends.insert(ends.end(), values.begin() + 1, values.end());
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

std::vector<int64_t> sparse_transposed(int64_t rank, int64_t sparse, int64_t dim0, int64_t dim1) {
    for (int64_t* const dim : {&dim0, &dim1}) {
        user_check<IndexError>(*dim >= -rank && *dim < rank,
                               "Dimension out of range (expected to be in range of [", -rank, ", ",
                               rank - 1, "], but got ", *dim, ")");
        if (*dim < 0) *dim += rank;
    }
    user_check<RuntimeError>(dim0 < sparse && dim1 < sparse,
                             "sparse transpose: transposed dimensions must be sparse Got "
                             "sparse_dim: ",
                             sparse, ", d0: ", dim0, ", d1: ", dim1);
    std::vector<int64_t> order(static_cast<size_t>(rank));
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[static_cast<size_t>(dim0)], order[static_cast<size_t>(dim1)]);
    return order;
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
    const int64_t rank = count_of_sparse(x);
    user_check<RuntimeError>(rank == 2, "addmm: matrices expected, got ", rank, "D tensor");
    user_check<RuntimeError>(shape.size() == 2, "addmm: scalar values expected, got ",
                             shape.size() - 2, "D values");
    user_check<RuntimeError>(dense.rank() == 2, "addmm: matrices expected, got ", dense.rank(),
                             "D tensor");
    user_check<RuntimeError>(shape[1] == dense.shape()[0],
                             "addmm: Argument #3 (dense): Expected dim 0 size ", shape[1], ", got ",
                             dense.shape()[0]);
    const Tensor terms = numpy::expand_dims(x.values, 1) * index_select(dense, 0, coordinate(x, 1));
    const Tensor zeros = numpy::zeros({shape[0], dense.shape()[1]}, terms.dtype());
    return index_add(zeros, 0, coordinate(x, 0), terms);
}

Tensor sparse_mv(const SparseElements& x, const Shape& shape, const Tensor& dense) {
    user_check<RuntimeError>(shape.size() == 2 && dense.rank() == 1,
                             "mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: ",
                             shape.size(), "Tensor Dim: ", dense.rank());
    user_check<RuntimeError>(shape[1] == dense.shape()[0],
                             "mv: expected self.size(-1) == vec.size(-1)");
    return numpy::squeeze(sparse_mm(x, shape, numpy::expand_dims(dense, 1)), {1});
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
