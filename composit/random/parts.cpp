// Checks of arguments, and fractions out of bits.
#include "composit/random/parts.h"

#include "composit/base/error.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

namespace composit::random {

using ops::astype;

void check_floating(std::string_view function, DType dtype) {
    user_check<TypeError>(ir::is_floating(dtype), function, ": dtype is ", dtype,
                          ". A floating dtype is required.");
    user_check<NotSupported>(dtype == DType::float32 || dtype == DType::float64, function,
                             ": dtype ", dtype, " is not built yet. Available: float32, float64.");
}

const Tensor& checked_parameter(std::string_view function, std::string_view name, const Operand& x,
                                const Shape& shape) {
    const Tensor& value = x;
    user_check<TypeError>(!ir::is_complex(value.dtype()), function, ": ", name, " is ",
                          value.dtype(), ". A real dtype is required.");
    const size_t rank = value.shape().size();
    bool fits = rank <= shape.size();
    for (size_t d = 0; fits && d < rank; ++d) {
        const int64_t length = value.shape()[d];
        fits = length == 1 || length == shape[shape.size() - rank + d];
    }
    user_check(fits, function, ": ", name, " has shape ", value.shape(), ", the draw ", shape, ". ",
               name, " must broadcast to the shape of the draw.");
    return value;
}

Tensor unit_steps(const Tensor& key, const Shape& shape, DType dtype) {
    const Tensor block = blocks(key, shape);
    if (dtype == DType::float64) return astype(block >> 12, dtype) * 0x1p-52;
    // Signed integers become floats faster.
    const Tensor folded = astype((block >> 32) ^ block, DType::uint32);
    return astype(astype(folded >> 9, DType::int32), dtype) * 0x1p-23;
}

SignAndFraction sign_and_fraction(const Tensor& key, const Shape& shape) {
    const Tensor block = blocks(key, shape);
    // Two runs of 31 bits, which vector units convert; the top bit is the sign.
    const auto bits_from = [&](int position) {
        const Tensor run = (block >> position) & 0x7fffffff;
        return astype(astype(run, DType::int32), DType::float64);
    };
    const Tensor low = (bits_from(1) + 0.5) * 0x1p-31;
    const Tensor fraction = (bits_from(32) + low) * 0x1p-31;
    return {numpy::apply("greater_equal", {astype(block, DType::int64), 0}), fraction};
}

}  // namespace composit::random
