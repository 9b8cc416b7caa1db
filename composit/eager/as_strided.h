// Views by strides: elements of a memory at any steps, NumPy's and PyTorch's as_strided.
#pragma once

#include "composit/eager/cell.h"

namespace composit::eager {

// Elements of the memory of `x`, the first one `offset` elements from its beginning, the others at
// `steps`; some may be seen more than once. Writing one writes the memory. ValueError unless there
// are as many steps as lengths, no length is below zero, and all elements exist.
Ref<Cell> as_strided(const Ref<Cell>& x, const ir::Shape& lengths, const Strides& steps,
                     int64_t offset);

// How many elements of x's size the memory of `x` has.
int64_t memory_size(const Cell& x);

// RuntimeError where a write into `target` that reads `operand` would depend on the order of
// elements: where some elements of the target are one in memory (told by a step of 0), or where
// both have their elements side by side and overlap without being the same; or being the same,
// unless they may be.
void check_overlap(const Cell& target, const Cell& operand, bool may_be_same = true);

// Where a diagonal along two axes, and sliding windows over axes (their lengths come last), lie.
Region diagonal_region(const Cell& x, int64_t offset, int64_t axis1, int64_t axis2);
Region windows_region(const Cell& x, const std::vector<int64_t>& axes);
// The real parts of complex numbers, or the imaginary ones, in elements of half the size.
Region part_region(const Cell& x, bool is_imaginary);

}  // namespace composit::eager
