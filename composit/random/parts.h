// What the distributions are made of: checks of their arguments, and fractions out of bits.
#pragma once

#include "composit/random/keys.h"

#include <string_view>

namespace composit::random {

// TypeError unless dtype is floating, NotSupported unless it is float32 or float64.
void check_floating(std::string_view function, DType dtype);

// x. TypeError where it is complex, ValueError unless it broadcasts to `shape`, the draw's.
const Tensor& checked_parameter(std::string_view function, std::string_view name, const Operand& x,
                                const Shape& shape);

// [0, 1) in equal steps, from the leading bits of what `bits` gives.
[[nodiscard]] Tensor unit_steps(const Tensor& key, const Shape& shape, DType dtype);

// A block of bits as a sign and a fraction in (0, 1], float64: 62 bits, which are relatively
// precise near 0.
struct SignAndFraction {
    Tensor is_positive, fraction;
};
[[nodiscard]] SignAndFraction sign_and_fraction(const Tensor& key, const Shape& shape);

}  // namespace composit::random
