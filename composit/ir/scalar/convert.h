// Conversions between dtypes that are defined for every value.
#pragma once

#include "composit/ir/scalar/expr.h"

namespace composit::ir::scalar {

// NumPy's astype: Op::cast wherever that is defined; floats truncate to integers, and what does not
// fit (NaN and infinities, too) becomes what x86 makes of it, as NumPy's loops do: to int8, int16,
// uint8, uint16 and int32 through int32, to uint32 and int64 through int64, both of which give
// their least value for what does not fit; to uint64 through int64 below 2^63 and through int64 of
// x - 2^63, sign bit flipped, from there on.
Expr convert(const Expr& x, DType dtype);

}  // namespace composit::ir::scalar
