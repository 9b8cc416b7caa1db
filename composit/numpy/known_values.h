// What functions of values know: the elements of tensors whose values are there. Where they are few
// a plan takes longer than they do, so that results are made of them here, and kept by their nodes.
//
//     const Tensor chosen = with_known_rows(ops::gather(x, {at}, {0}), x, x.size(), places);
//     evaluate({chosen});   // the values are there already, if those of x are
#pragma once

#include "composit/ir/constant_array.h"
#include "composit/numpy/operand.h"

#include <cstddef>
#include <cstdint>

namespace composit::numpy {

// Of arrays of more elements a plan takes no longer.
inline constexpr int64_t most_known_elements = 16384;

// The value of x where that is there, in host memory that nobody else writes, and has from 1 to
// most_known_elements elements; else empty.
[[nodiscard]] ir::ConstantArray few_known(const Tensor& x);

// The elements of a 1-d array at `places`, int64, all of which are within bounds, from 0 on.
[[nodiscard]] Array elements_at(const Array& values, const Array& places);

// Copies the rows at `places`, int64 and within bounds, of so many bytes each, one after the other.
void copy_rows(const void* from, void* to, const Array& places, size_t bytes);

// `result`, of which `value` is the value. Its node keeps that, unless it lies on a device.
Tensor with_known_value(const Tensor& result, const Array& value);

// The value of x as `dtype` has it, which is x's or that of an array that a number is written to:
// empty where x is not known, and where converting it may be an error.
[[nodiscard]] ir::ConstantArray known_as(const Tensor& x, DType dtype);

// `result`, which holds the rows at `places`, int64, of x, which has `rows` of them (each of the
// same number of elements, in row-major order). Its node keeps the values where those of x are few
// and known, and the places from 0 to rows - 1.
Tensor with_known_rows(const Tensor& result, const Tensor& x, int64_t rows, const Array& places);

// `result`, which holds x with other values in the rows at `places`: `value`, of x's dtype, has one
// element, or those of all these rows; of a row that is met twice the last one counts.
Tensor with_known_writes(const Tensor& result, const Tensor& x, int64_t rows, const Array& places,
                         const ir::ConstantArray& value);

// x as ops::astype makes it of that dtype (bool, int64 or float64), where its values are few and
// known; else, and for floats as integers, empty.
[[nodiscard]] Array known_cast(const Tensor& x, DType dtype);

}  // namespace composit::numpy
