// What losses have in common: operands in one floating dtype, torch's slopes at limits.
#pragma once

#include "composit/base/error.h"
#include "composit/nn/checks.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <string_view>
#include <vector>

namespace composit::nn {

using ir::DType;
using ir::Tensor;
using numpy::apply;

// All in their common dtype, integers and bool in float64. TypeError for complex numbers.
inline std::vector<Tensor> all_floating(std::string_view function,
                                        const std::vector<Tensor>& given) {
    DType dtype = numpy::result_type(given);
    user_check<TypeError>(!ir::is_complex(dtype), function, ": an operand is ", dtype,
                          ". Real dtypes are required.");
    if (!ir::is_inexact(dtype)) dtype = DType::float64;
    std::vector<Tensor> result;
    for (const Tensor& x : given) result.push_back(ops::astype(numpy::strong(x), dtype));
    return result;
}

inline Tensor chosen(const Tensor& condition, const numpy::Operand& x, const numpy::Operand& y) {
    return apply("where", {condition, x, y});
}

// max(x, 0) whose slope at 0 is 1.
inline Tensor positive_part(const Tensor& x) { return chosen(x < 0, 0.0, x); }

// log(1 + exp(x))
inline Tensor softened(const Tensor& x) { return apply("logaddexp", {x, 0.0}); }

}  // namespace composit::nn
