// Comparing tensors: within tolerances, as wholes, and with the infinities.
//
// A function whose result is one bool evaluates its operands when it is called. NotSupported, by
// name, when they depend on a placeholder (inside compile, grad, vmap, wrap_as_operation).
#pragma once

#include "composit/numpy/operand.h"

namespace composit::numpy {

// numpy.isclose: bool, |a - b| <= atol + rtol |b| where b is finite, or a == b; broadcast. The
// tolerances may be tensors. equal_nan: NaN is close to NaN. ValueError: shapes do not broadcast.
//
//   isclose(x, 1.0)
[[nodiscard]] Tensor isclose(const Operand& a, const Operand& b, const Operand& rtol = 1e-5,
                             const Operand& atol = 1e-8, bool equal_nan = false);
// numpy.allclose: whether isclose holds everywhere, a bool.
[[nodiscard]] bool allclose(const Operand& a, const Operand& b, const Operand& rtol = 1e-5,
                            const Operand& atol = 1e-8, bool equal_nan = false);

// numpy.array_equal: whether the shapes are equal and the elements; shapes that differ are not
// evaluated. equal_nan: NaN equals NaN.
[[nodiscard]] bool array_equal(const Operand& a1, const Operand& a2, bool equal_nan = false);
// numpy.array_equiv: whether the shapes broadcast and the elements are equal then.
[[nodiscard]] bool array_equiv(const Operand& a1, const Operand& a2);

// numpy.isneginf, numpy.isposinf: bool, where x is that infinity; nowhere for integers and bool.
// TypeError for complex dtypes.
[[nodiscard]] Tensor isneginf(const Operand& x);
[[nodiscard]] Tensor isposinf(const Operand& x);

}  // namespace composit::numpy
