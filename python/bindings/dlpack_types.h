// DLPack's names of dtypes.
#pragma once

#include "composit/ir/dtype_traits.h"

#include <nanobind/ndarray.h>

namespace composit::python {

inline nanobind::dlpack::dtype dlpack_dtype(ir::DType dtype) {
    return {ir::traits(dtype).dlpack, static_cast<uint8_t>(8 * ir::size_of(dtype)), 1};
}

}  // namespace composit::python
