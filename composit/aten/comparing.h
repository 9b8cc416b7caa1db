// What torch.testing.assert_close asks of two tensors: whether they are close, and where not.
//
//   if (const auto found = mismatch(actual, expected, 1.3e-6, 1e-5)) … found->count of found->size
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>

namespace composit::aten {

using ir::Shape;
using ir::Tensor;

// PyTorch's isclose: bool, x == y, or |x - y| is finite and at most atol + |rtol y|; integers are
// compared in the default dtype then. equal_nan: NaN is close to NaN. RuntimeError, PyTorch's
// words, for a negative tolerance.
[[nodiscard]] Tensor isclose(const Tensor& x, const Tensor& y, double rtol = 1e-5,
                             double atol = 1e-8, bool equal_nan = false);

// Elements of two tensors that are not close, and the greatest differences of those: without
// dimensions, absolute ones of integers in int64, relative ones in the default dtype. Positions
// have a place for each dimension. A difference that is NaN is the greatest.
struct Mismatch {
    int64_t count = 0, size = 0;
    Shape first = {};
    Tensor absolute = {}, relative = {};
    Shape absolute_at = {}, relative_at = {};
};
// Nothing where all elements of two tensors of one shape and dtype are close. Both are evaluated:
// NotSupported under placeholders.
[[nodiscard]] std::optional<Mismatch> mismatch(const Tensor& actual, const Tensor& expected,
                                               double rtol, double atol, bool equal_nan = false);

}  // namespace composit::aten
