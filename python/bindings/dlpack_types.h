// DLPack's names of dtypes.
#pragma once

#include "composit/ir/dtype.h"

#include <nanobind/ndarray.h>

namespace composit::python {

inline nanobind::dlpack::dtype dlpack_dtype(ir::DType dtype) {
    const auto bits = static_cast<uint8_t>(8 * ir::size_of(dtype));
    const auto of = [&](nanobind::dlpack::dtype_code code) {
        return nanobind::dlpack::dtype{static_cast<uint8_t>(code), bits, 1};
    };
    if (dtype == ir::DType::boolean) return of(nanobind::dlpack::dtype_code::Bool);
    if (dtype == ir::DType::bfloat16) return of(nanobind::dlpack::dtype_code::Bfloat);
    if (ir::is_complex(dtype)) return of(nanobind::dlpack::dtype_code::Complex);
    if (ir::is_floating(dtype)) return of(nanobind::dlpack::dtype_code::Float);
    return of(ir::is_unsigned_integer(dtype) ? nanobind::dlpack::dtype_code::UInt
                                             : nanobind::dlpack::dtype_code::Int);
}

}  // namespace composit::python
