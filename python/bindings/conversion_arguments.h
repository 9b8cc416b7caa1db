// The arguments of Tensor.to.
#pragma once

#include <nanobind/nanobind.h>

namespace composit::python {

namespace nb = nanobind;

// What a tensor is to become; None for what stays as it is.
struct ConversionWanted {
    nb::object dtype = nb::none(), device = nb::none();
    bool is_copy = false;
};

// to(device, dtype, non_blocking, copy), to(dtype, non_blocking, copy) or to(tensor, non_blocking,
// copy), with memory_format by name, and the others, too. TypeError, PyTorch's first line, for what
// is none of them.
ConversionWanted read_conversion(const nb::tuple& args, const nb::dict& kwargs);

}  // namespace composit::python
