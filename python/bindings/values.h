// Python's values as composit's, and back: arrays, dtypes, scalars, anything array-like.
#pragma once

#include "composit/ir/array.h"
#include "composit/ir/node.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

// numpy.<name>, imported once.
nb::handle numpy_attribute(const char* name);

// Anything numpy.dtype accepts, and "bfloat16". TypeError for dtypes without numbers.
ir::DType dtype_from(nb::handle value);
// numpy.dtype (ml_dtypes' bfloat16).
nb::object dtype_object(ir::DType dtype);

// A copy of an ndarray in composit's memory; without `copy` the ndarray's own memory where that is
// contiguous.
ir::Array array_from(nb::handle ndarray, bool copy = true);
// A writable ndarray. Memory that nobody else owns is handed over, other memory is copied.
nb::object ndarray_from(ir::Array array);

// An ir::Tensor for an operand: LazyTensor; Python's bool, int and float as weak scalars; an object
// with `lazy_tensor`; else what numpy.asarray makes of it, as a constant with the user's line.
ir::Tensor tensor_from(nb::handle value);
// Whether a binary operator takes the value at all (else Python asks the other operand).
bool is_operand(nb::handle value);

int64_t integer_from(nb::handle value);                // by __index__, Python's TypeError
std::vector<int64_t> integers_from(nb::handle value);  // an integer or a sequence of them
nb::tuple tuple_from(const std::vector<int64_t>& values);

void bind_memory(nb::module_& module);

}  // namespace composit::python
