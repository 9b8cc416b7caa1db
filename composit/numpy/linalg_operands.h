// What functions of numpy.linalg do with their operands: the checks and the precision of NumPy.
#pragma once

#include "composit/numpy/operand.h"
#include "composit/ops/matrices.h"

#include <initializer_list>
#include <string_view>

namespace composit::numpy::linalg {

// float32 or float64, or their complex, that the function returns of operands of these dtypes.
// TypeError for short floats.
[[nodiscard]] DType common_type(std::string_view function, std::initializer_list<Tensor> operands);
// In float64 or complex128, where composit::ops decomposes. `like`: what the operands have in
// common.
[[nodiscard]] Tensor in_double(const Tensor& x, DType like);

// LinAlgError, NumPy's words.
void check_matrices(std::string_view function, const Tensor& x);
void check_square(std::string_view function, const Tensor& x);
void check_one_matrix(std::string_view function, const Tensor& x);

using ops::batch_of;
using ops::columns;
using ops::rows;

// x with these batch axes.
[[nodiscard]] Tensor spread(const Tensor& x, Shape batch);
// The distance from 1 to the next number.
[[nodiscard]] double precision_of(DType dtype);
// The Hermitian matrix of which x has the lower triangle.
[[nodiscard]] Tensor hermitian_of(const Tensor& x);

}  // namespace composit::numpy::linalg
