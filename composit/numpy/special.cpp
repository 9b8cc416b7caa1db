// fix, sinc and nan_to_num as graphs of rows.
#include "composit/numpy/special.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/dtype_traits.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/ops/ops.h"

#include <limits>
#include <numbers>

namespace composit::numpy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// sin(x) / x near 0 by its series, up to the power of 16, whose derivatives are right where those
// of the quotient cancel: the next term is below 3e-23 for |x| < 0.5.
Tensor sinc_near_zero(const Tensor& x) {
    const Tensor square = apply("multiply", {x, x});
    Tensor sum = scalar(x.dtype(), 1);
    for (int last = 16; last > 0; last -= 2)  // 1 - x^2 / (2 3) (1 - x^2 / (4 5) (…))
        sum = apply(
            "subtract",
            {1, apply("multiply", {apply("multiply", {square, sum}), 1.0 / (last * (last + 1))})});
    return sum;
}

// Whether it is; of complex numbers NumPy's quotient of what is below the normal numbers is none.
Tensor is_near_zero(const Tensor& x) {
    const Tensor size = apply("absolute", {x}), is_near = apply("less", {size, 0.5});
    if (!ir::is_complex(x.dtype())) return is_near;
    const double least = x.dtype() == DType::complex64 ? std::numeric_limits<float>::min()
                                                       : std::numeric_limits<double>::min();
    const Tensor is_tiny =
        apply("logical_and", {apply("greater", {size, 0.0}), apply("less", {size, least})});
    return apply("logical_and", {is_near, apply("logical_not", {is_tiny})});
}

// A replacement in x's shape and dtype.
Tensor fitted(const Tensor& replacement, const Tensor& x) {
    user_check<TypeError>(!ir::is_complex(replacement.dtype()),
                          "nan_to_num: Cannot cast scalar from dtype('", replacement.dtype(),
                          "') to dtype('", x.dtype(), "') according to the rule 'same_kind'.");
    return broadcast_to(ops::astype(replacement, x.dtype()), x.shape());
}

}  // namespace

Tensor fix(const Tensor& x) {
    return errors_as("fix", [&] { return apply("trunc", {x}); });
}

Tensor sinc(const Tensor& x) {
    const Tensor value = strong(x);
    return one_node("sinc", {value}, [](const Tensors& operands) {
        const Tensor angle = apply("multiply", {std::numbers::pi, operands[0]});
        const Tensor is_near = is_near_zero(angle);
        const Tensor far = apply("where", {is_near, scalar(angle.dtype(), 0.5), angle}),
                     near = apply("where", {is_near, angle, scalar(angle.dtype(), 0)});
        return apply("where",
                     {is_near, sinc_near_zero(near), apply("divide", {apply("sin", {far}), far})});
    });
}

Tensor nan_to_num(const Tensor& x, const Operand& nan, const Operand& posinf,
                  const Operand& neginf) {
    if (ir::is_complex(x.dtype()))  // part by part
        return errors_as("nan_to_num", [&] {
            return apply("as_complex", {nan_to_num(apply("real", {x}), nan, posinf, neginf),
                                        nan_to_num(apply("imag", {x}), nan, posinf, neginf)});
        });
    const Tensor value = strong(x);
    if (!ir::is_inexact(value.dtype())) return value;
    return errors_as("nan_to_num", [&] {
        const double most = ir::float_format(value.dtype()).greatest();
        const Tensor high = posinf ? fitted(posinf, value) : scalar(value.dtype(), most);
        const Tensor low = neginf ? fitted(neginf, value) : scalar(value.dtype(), -most);
        const Tensor finite =
            apply("where", {apply("equal", {value, infinity}), high,
                            apply("where", {apply("equal", {value, -infinity}), low, value})});
        return apply("where", {apply("isnan", {value}), fitted(nan, value), finite});
    });
}

}  // namespace composit::numpy
