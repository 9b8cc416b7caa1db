// The value of a tensor of one element.
#pragma once

#include "composit/execute/execute.h"
#include "composit/ops/ops.h"

namespace composit::aten {

inline double number(const ir::Tensor& x) {
    return execute::evaluate({ops::astype(x, ir::DType::float64)})[0].data_as<double>()[0];
}

}  // namespace composit::aten
