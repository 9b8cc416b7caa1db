// What functions of nn ask of their operands before they compute.
#pragma once

#include "composit/base/error.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"

#include <string_view>

namespace composit::nn {

// x as it is where it is floating, integers and bool as float64. TypeError for complex numbers.
inline ir::Tensor floating(std::string_view function, const ir::Tensor& x,
                           std::string_view name = "x") {
    user_check<TypeError>(!ir::is_complex(x.dtype()), function, ": ", name, " is ", x.dtype(),
                          ". A real dtype is required.");
    return ops::astype(numpy::strong(x),
                       ir::is_inexact(x.dtype()) ? x.dtype() : ir::DType::float64);
}

// Scores have an axis of classes behind those of the labels, which are integers: TypeError for
// others, ValueError for other shapes.
void check_labels(std::string_view function, const ir::Tensor& scores, const ir::Tensor& labels);

// Losses as `reduction` says: their mean, their sum, or as they are. ValueError for another word.
void check_reduction(std::string_view function, std::string_view reduction);
[[nodiscard]] ir::Tensor reduced(std::string_view function, const ir::Tensor& losses,
                                 std::string_view reduction);

}  // namespace composit::nn
