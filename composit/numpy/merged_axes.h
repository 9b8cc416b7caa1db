// The axes of a reduction merged into one, for functions that order what they reduce.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <vector>

namespace composit::numpy {

// x as rows: those axes last and flattened together, the others in front of them.
struct MergedAxes {
    Tensor rows;     // (count, length)
    Shape rest;      // of the axes that stay
    Shape kept;      // x's, with 1 for the axes that go
    int64_t length;  // of a row
};

// Of non-negative axes, each once, in any order.
//
//   merge_axes(x, {0, 2}).rows
[[nodiscard]] MergedAxes merge_axes(const Tensor& x, std::vector<int64_t> axes);

}  // namespace composit::numpy
