// Numbers of a training step that may be tensors: composit/aten/number.h.
#pragma once

#include "casters.h"
#include "composit/aten/number.h"
#include "values.h"

namespace composit::python {

inline aten::Number step_number(nb::handle value) {
    if (is_tensor(value)) return tensor_from(value);
    if (PyLong_Check(value.ptr())) return integer_from(value);
    return number_from(value);
}

// Python's float, the integer that it was made of, or a tensor.
inline nb::object step_number_object(const aten::Number& number) {
    if (number.is_whole()) return nb::int_(static_cast<int64_t>(number.value()));
    if (number.is_known()) return nb::float_(number.value());
    return nb::cast(number.operand());
}

}  // namespace composit::python
