// What functions that are summed in float64 share.
#pragma once

#include "composit/aten/dtypes.h"
#include "composit/aten/rows.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace composit::aten {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline Tensor constant(double value) { return numpy::scalar(DType::float64, value); }

// The function's result for tensors in float64, in the dtype of the first of them; numbers stay.
template <class Function>
Tensor in_float64(const std::vector<Tensor>& operands, const Function& function) {
    std::vector<Tensor> wide;
    for (const Tensor& x : operands)
        wide.push_back(x.type().weak ? x : ops::astype(x, DType::float64));
    const bool are_numbers = std::all_of(operands.begin(), operands.end(),
                                         [](const Tensor& x) { return x.type().weak; });
    const DType kept = are_numbers ? DType::float64 : together_as_floats(operands)[0].dtype();
    return ops::astype(function(wide), kept);
}

// `value`, whose derivative by x is `slope`, 0 where that is NaN; the value is computed apart.
[[nodiscard]] Tensor with_derivative(const Tensor& x, const Tensor& value, const Tensor& slope);

}  // namespace composit::aten
