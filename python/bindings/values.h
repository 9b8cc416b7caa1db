// Python's values as operands and numbers.
#pragma once

#include "arrays.h"
#include "composit/ir/node.h"

#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace composit::python {

namespace nb = nanobind;

// An ir::Tensor for an operand: LazyTensor; Python's bool, int and float as weak scalars; an object
// with `lazy_tensor`; else what numpy.asarray makes of it, as a constant with the user's line.
ir::Tensor tensor_from(nb::handle value);
// The same for what a tensor is compared with, where integers of more than 64 bits lie beyond all
// of any integer dtype, and are the nearest float beside floats.
ir::Tensor comparand(nb::handle value, const ir::Tensor& other);
// Whether the value has the attribute. Other errors than its absence, such as a KeyboardInterrupt
// in a `__getattr__`, are thrown, which nb::hasattr swallows.
bool has_attribute(nb::handle value, const char* name);
// Whether a binary operator takes the value at all (else Python asks the other operand).
bool is_operand(nb::handle value);

// Whether its class has an `__array_ufunc__` that is not NumPy's own: what operators make of it is
// its business.
bool overrides_ufuncs(nb::handle value);

// TypeErrors name the function and argument of the user's call (arguments.h).
int64_t integer_from(nb::handle value);                     // by __index__
std::vector<int64_t> integers_from(nb::handle value);       // an integer or a sequence of them
double number_from(nb::handle value);                       // by __float__
std::vector<ir::Tensor> tensors_from(nb::handle iterable);  // each as by tensor_from
nb::tuple tuple_from(const std::vector<int64_t>& values);

}  // namespace composit::python
