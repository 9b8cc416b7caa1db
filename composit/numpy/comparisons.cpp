// Comparisons as graphs of rows of the scalar table; those that are one bool are evaluated here.
#include "composit/numpy/comparisons.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/literal.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <cmath>
#include <limits>
#include <optional>

namespace composit::numpy {
namespace {

Tensor magnitude(const Tensor& x) {
    if (const std::optional<double> value = literal(x)) return ir::weak_scalar(std::fabs(*value));
    return apply("absolute", {x});
}

// Integers as floats: distances do not wrap then, and every magnitude exists.
Tensor as_inexact(const Tensor& x) {
    if (ir::is_inexact(x.dtype())) return x;
    if (const std::optional<double> value = literal(x)) return ir::weak_scalar(*value);
    return ops::astype(x, DType::float64);
}

Tensor both_nan(const Tensor& a, const Tensor& b) {
    return apply("logical_and", {apply("isnan", {a}), apply("isnan", {b})});
}

Tensor is_infinity(std::string_view function, const Tensor& x, double infinity) {
    user_check<TypeError>(!ir::is_complex(x.dtype()), function,
                          ": This operation is not supported for ", x.dtype(),
                          " values because it would be ambiguous. A real dtype is required.");
    return errors_as(function, [&] { return apply("equal", {strong(x), infinity}); });
}

// Whether the lengths, counted from the last, are equal or 1.
bool broadcast(const Shape& a, const Shape& b) {
    for (auto x = a.rbegin(), y = b.rbegin(); x != a.rend() && y != b.rend(); ++x, ++y)
        if (*x != *y && *x != 1 && *y != 1) return false;
    return true;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Tensor isclose(const Operand& a, const Operand& b, const Operand& rtol, const Operand& atol,
               bool equal_nan) {
    return errors_as("isclose", [&] {
        const Tensor y = as_inexact(b);
        const Tensor x = y.type().weak ? strong(a) : a.tensor();
        const Tensor distance = apply("absolute", {apply("subtract", {x, y})});
        const Tensor bound = combined("add", atol, combined("multiply", rtol, magnitude(y)));
        const Tensor near =
            apply("logical_and", {apply("less_equal", {distance, bound}), apply("isfinite", {y})});
        const Tensor close = apply("logical_or", {near, apply("equal", {x, y})});
        return equal_nan ? apply("logical_or", {close, both_nan(x, y)}) : close;
    });
}

bool allclose(const Operand& a, const Operand& b, const Operand& rtol, const Operand& atol,
              bool equal_nan) {
    return errors_as("allclose", [&] {
        return truth("allclose", all(isclose(a, b, rtol, atol, equal_nan)), "all(isclose(a, b))");
    });
}

bool array_equal(const Operand& a1, const Operand& a2, bool equal_nan) {
    const Tensor& x = a1;
    const Tensor& y = a2;
    if (x.shape() != y.shape()) return false;
    return errors_as("array_equal", [&] {
        Tensor same = apply("equal", {strong(x), strong(y)});
        if (equal_nan && ir::is_inexact(x.dtype()) && ir::is_inexact(y.dtype()))
            same = apply("logical_or", {same, both_nan(x, y)});
        return truth("array_equal", all(same), "all(equal(a1, a2))");
    });
}

bool array_equiv(const Operand& a1, const Operand& a2) {
    const Tensor& x = a1;
    const Tensor& y = a2;
    if (!broadcast(x.shape(), y.shape())) return false;
    return errors_as("array_equiv", [&] {
        return truth("array_equiv", all(apply("equal", {strong(x), strong(y)})),
                     "all(equal(a1, a2))");
    });
}

Tensor isneginf(const Operand& x) { return is_infinity("isneginf", x, -infinity); }

Tensor isposinf(const Operand& x) { return is_infinity("isposinf", x, infinity); }

}  // namespace composit::numpy
