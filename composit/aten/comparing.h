// What torch.testing.assert_close asks of two tensors: whether they are close, and where not.
//
//   assert_close(actual, expected);
//   if (const auto found = mismatch(actual, expected, 1.3e-6, 1e-5)) … found->count of found->size
#pragma once

#include "composit/aten/number.h"
#include "composit/base/assertion_error.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

// What assert_close says of them: how many elements differ, and the greatest differences with what
// is allowed.
[[nodiscard]] std::string text_of(const Mismatch& mismatch, const Number& rtol, const Number& atol,
                                  std::string_view name = "Tensor-likes");

// The tolerances of values of dtypes, the larger ones where these differ: 0 of booleans and
// integers.
struct Tolerances {
    double rtol = 0, atol = 0;
};
[[nodiscard]] Tolerances close_tolerances(const std::vector<ir::DType>& dtypes);

// What assert_close demands. Tolerances: both or neither, which stands for those of the dtypes.
struct Closeness {
    std::optional<double> rtol = {}, atol = {};
    bool equal_nan = false;
    bool check_dtype = true;  // else both are compared in the dtype that both fit into
};
// AssertionError, PyTorch's words, unless two tensors are of one shape and dtype, and close.
// ValueError for one tolerance alone.
void assert_close(const Tensor& actual, const Tensor& expected, const Closeness& demanded = {});
// ValueError, PyTorch's words, for one tolerance alone.
void check_tolerances(bool has_rtol, bool has_atol);
// What assert_close says of an attribute's values that differ.
[[nodiscard]] std::string attributes_differ(std::string_view name, std::string_view actual,
                                            std::string_view expected);

}  // namespace composit::aten
