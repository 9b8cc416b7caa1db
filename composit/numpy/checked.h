// Positions that must lie within a length, where NumPy takes no negative ones.
#pragma once

#include "composit/numpy/operand.h"

#include <string>
#include <string_view>

namespace composit::numpy {

// What to say of a position that is out of bounds.
struct OutOfBounds {
    std::string_view function;
    std::string what;
};

// int64 positions from 0 to length - 1. Mode "raise": others are a ValueError, at once for
// constants, else an IndexError when they are evaluated; "wrap": modulo length; "clip": the
// nearest. ValueError for another mode.
[[nodiscard]] Tensor checked_positions(const OutOfBounds& error, const Tensor& positions,
                                       int64_t length, std::string_view mode);

// Whether a 0-d bool is false, as far as can be known now: never under placeholders. For values
// that NumPy refuses though they decide no shape.
//
//   user_check(!is_violated(all(greater_equal(weights, 0))), "cov: aweights cannot be negative.")
[[nodiscard]] bool is_violated(const Tensor& condition);

}  // namespace composit::numpy
