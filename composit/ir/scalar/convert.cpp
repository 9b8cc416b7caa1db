// Float to integer where the value may not fit: the range is tested before the cast, which then
// always fits.
#include "composit/ir/scalar/convert.h"

#include "composit/ir/scalar/library_parts.h"

namespace composit::ir::scalar {
namespace {

// x truncated to int32 or int64, the least integer where it does not fit. x is float32 or float64.
Expr truncated(const Expr& x, DType dtype) {
    const double limit = dtype == DType::int32 ? 0x1p31 : 0x1p63;
    // Between -2^31 - 1 and -2^31 a double still truncates to -2^31; other values there are
    // integers.
    const bool has_fractions = dtype == DType::int32 && x.dtype() == DType::float64;
    const Expr is_above = has_fractions ? x > -limit - 1 : x >= -limit;
    const Expr fits = is_above & (x < limit);
    // What does not fit becomes NaN, which raises the processor's flag.
    const Expr one = Expr::constant(x.dtype(), 1);
    const Expr fitting = (x * select(fits, one, parts::signaling_nan(x))).named("fitting");
    return Expr::cast(select(equal(fitting, fitting), fitting, -limit), dtype);
}

Expr to_uint64(const Expr& x) {
    const Expr is_high = x >= 0x1p63;
    const Expr low = truncated(select(is_high, x - 0x1p63, x), DType::int64);
    const Expr flip = select(is_high, Expr::constant_integer(DType::int64, INT64_MIN),
                             Expr::constant_integer(DType::int64, 0));
    return Expr::cast(low ^ flip, DType::uint64);
}

}  // namespace

Expr convert(const Expr& x, DType dtype) {
    if (!is_floating(x.dtype()) || !is_integer(dtype)) return Expr::cast(x, dtype);
    const Expr wide = size_of(x.dtype()) == 2 ? Expr::cast(x, DType::float32) : x;
    if (dtype == DType::uint64) return to_uint64(wide);
    const bool through_int64 = dtype == DType::int64 || dtype == DType::uint32;
    return Expr::cast(truncated(wide, through_int64 ? DType::int64 : DType::int32), dtype);
}

}  // namespace composit::ir::scalar
