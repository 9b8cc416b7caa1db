// What functions that are summed in float64 share.
#pragma once

#include "composit/aten/dtypes.h"
#include "composit/aten/rows.h"
#include "composit/ops/ops.h"

#include <limits>
#include <optional>
#include <vector>

namespace composit::aten {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline Tensor constant(double value) { return numpy::scalar(DType::float64, value); }

// The function's result for tensors in float64, in the dtype of the first of them; numbers stay.
template <class Function>
Tensor in_float64(const std::vector<Tensor>& operands, const Function& function) {
    std::vector<Tensor> wide;
    std::optional<DType> kept;
    for (const Tensor& x : operands) {
        if (x.type().weak) {
            wide.push_back(x);
            continue;
        }
        const Tensor real = floating(x);
        if (!kept) kept = real.dtype();
        wide.push_back(ops::astype(real, DType::float64));
    }
    return ops::astype(function(wide), kept.value_or(DType::float64));
}

// `value`, whose derivative by x is `slope`, 0 where that is NaN; the value is computed apart.
[[nodiscard]] Tensor with_derivative(const Tensor& x, const Tensor& value, const Tensor& slope);

}  // namespace composit::aten
