// Rows of the table, after PyTorch's promotion.
#include "composit/aten/pointwise.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/rows.h"
#include "composit/base/error.h"
#include "composit/numpy/manipulation.h"

#include <vector>

namespace composit::aten {
namespace {

Tensor quotient(const Tensor& x, const Tensor& y) { return numpy::apply("floor_divide", {x, y}); }

}  // namespace

Tensor div(const Operand& a, const Operand& b, std::string_view rounding_mode) {
    if (rounding_mode.empty()) {
        const std::vector<Tensor> pair = together_as_floats({a, b});
        return numpy::apply("divide", {pair[0], pair[1]});
    }
    user_check<RuntimeError>(rounding_mode == "floor" || rounding_mode == "trunc",
                             "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
                             "but found '",
                             rounding_mode, "'");
    const std::vector<Tensor> pair = together({a, b});
    const Tensor &x = pair[0], &y = pair[1];
    if (rounding_mode == "floor") return quotient(x, y);
    if (ir::is_inexact(x.dtype())) return numpy::apply("trunc", {numpy::apply("divide", {x, y})});
    return quotient(x - numpy::apply("fmod", {x, y}), y);
}

Tensor prelu(const Tensor& x, const Tensor& given) {
    user_check<RuntimeError>(given.rank() <= 1,
                             "prelu: Expected `weight` to be a scalar or 1D "
                             "tensor, but got: ndim = ",
                             given.rank());
    Tensor weight = given;
    if (weight.size() > 1 && x.rank() > 1) {
        ir::Shape shape(static_cast<size_t>(x.rank()) - 1, 1);
        shape[0] = -1;
        weight = numpy::reshape(weight, shape);
    } else if (x.rank() == 0) {
        weight = numpy::reshape(weight, {});
    }
    return rows::where(x > 0, x, x * weight);
}

Tensor xlogy(const Operand& a, const Operand& b) {
    const std::vector<Tensor> pair = together_as_floats({a, b});
    const Tensor &x = pair[0], &y = pair[1];
    const Tensor is_nothing = rows::equal(x, 0) & ~numpy::apply("isnan", {y});
    const Tensor product = x * rows::log(rows::where(is_nothing, 1, y));
    return rows::where(is_nothing, rows::zero_of(product), product);
}

}  // namespace composit::aten
