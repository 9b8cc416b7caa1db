// Values between the points of a function.
#pragma once

#include "composit/numpy/operand.h"

namespace composit::numpy {

// numpy.interp: at every x the line between the neighbours among the points (xp, fp), 1-d, xp
// ascending; left of the first `left` (fp's first unless given), right of the last `right`. With a
// period, which is then all that counts outside, points need no order. float64, x's shape; the
// gradient goes to x, fp and xp. ValueError: no points, other dimensions, lengths that differ, a
// period of 0. One node.
//
//   interp(x, array<double>({0, 1, 3}), array<double>({5, 7, 1}))
[[nodiscard]] Tensor interp(const Tensor& x, const Tensor& xp, const Tensor& fp,
                            const Operand& left = {}, const Operand& right = {},
                            const Operand& period = {});

}  // namespace composit::numpy
