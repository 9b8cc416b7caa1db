// The values of tensors, as double.
#pragma once

#include "composit/execute/execute.h"
#include "composit/ops/ops.h"

#include <vector>

namespace composit::aten {

using Values = std::vector<double>;

inline Values values_of(const ir::Tensor& x) {
    const ir::Array found = execute::evaluate({ops::astype(x, ir::DType::float64)})[0];
    const double* const data = found.data_as<double>();
    return {data, data + found.size()};
}

// Of one element.
inline double number(const ir::Tensor& x) { return values_of(x)[0]; }

}  // namespace composit::aten
