// How NumPy's arrays lie in memory: known without values. Tensors of the graph have no memory; what
// programs can see of it are views, copies and flags.
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::eager {

// Elements between neighbours along each axis.
using Strides = std::vector<int64_t>;

// Where elements lie: the first one, and the steps to the others.
struct Region {
    int64_t offset = 0;
    Strides strides;
};

// Of `to`, which layout operations make of `from`, whose region is given. Nothing where NumPy has
// to copy: a reshape that no strides describe.
std::optional<Region> region_through(const ir::Tensor& from, Region region, const ir::Tensor& to);

// visit(place, step, length) for each row along the last axis of a region of that shape, none where
// it is empty: its elements lie at place, place + step, …
template <class Visit>
void for_each_row(const Region& region, const ir::Shape& shape, const Visit& visit) {
    if (ir::element_count(shape) == 0) return;
    const size_t rank = shape.size();
    const int64_t length = rank > 0 ? shape[rank - 1] : 1;
    const int64_t step = rank > 0 ? region.strides[rank - 1] : 1;
    std::vector<int64_t> position(rank, 0);
    for (int64_t row = 0, rows = ir::element_count(shape) / length; row < rows; ++row) {
        int64_t place = region.offset;
        for (size_t d = 0; d + 1 < rank; ++d) place += position[d] * region.strides[d];
        visit(place, step, length);
        for (size_t d = rank; d-- > 1;) {
            if (++position[d - 1] < shape[d - 1]) break;
            position[d - 1] = 0;
        }
    }
}

// The position, in a shape, of the element at a place in row-major order.
std::vector<int64_t> position_of(int64_t place, const ir::Shape& shape);

// Whether the elements follow each other in memory, the last axis (the first one) fastest. Axes of
// one element do not count; what is empty is both.
bool is_row_major(const ir::Shape& shape, const Strides& strides);
bool is_column_major(const ir::Shape& shape, const Strides& strides);

// Of a copy in memory of its own: the steps of what is copied where its elements fill their memory,
// in whatever order of the axes; row-major ones where there are gaps, or elements at one place.
// PyTorch lays gradients beside their leaves so.
Strides strides_of_copy(const ir::Shape& shape, const Strides& strides);

// An operand of an elementwise function.
struct Laid {
    const ir::Shape& shape;
    const Strides& strides;
};
// Of a result of that shape: NumPy's order "K". Its axes follow each other in memory as those of
// the operands do; where operands disagree, as in row-major order.
Strides elementwise_strides(const ir::Shape& shape, const std::vector<Laid>& operands);

}  // namespace composit::eager
