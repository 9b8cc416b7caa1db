// How two arrays that should be equal differ: by bits, or beyond rounding.
//
//   const reports::Distance apart = reports::distance(found, expected);
//   if (apart.largest > 1e-4 * apart.scale) …
#pragma once

#include "composit/ir/array.h"

#include <string>

namespace composit::reports {

using ir::Array;

// Equal dtypes, shapes and bytes. Any NaN equals any other, and so do the imaginary zeros of both
// signs.
[[nodiscard]] bool same_bits(const Array& a, const Array& b);

// Where arrays differ first, and in how many elements: "np.float32(2.0) instead of np.float32(1.0)
// at (0, 1), 3 of 6 elements differ"; shapes, or dtypes, where these differ; "" for equal bits.
[[nodiscard]] std::string first_difference(const Array& expected, const Array& found);

struct Distance {
    double largest = 0;  // difference of two elements; infinite where only one is NaN or infinite
    double scale = 1;    // the largest finite element expected, at least 1
};
// Of arrays of one shape. Integers are subtracted exactly, other numbers in float64 or complex128.
[[nodiscard]] Distance distance(const Array& found, const Array& expected);

// In words, what is more than rounding: another shape, integers that differ, floats further apart
// than `most` times the scale. `whose` expects: "has shape (2,), the estimator's has (3,)". ""
// where nothing is.
[[nodiscard]] std::string beyond_rounding(const Array& found, const Array& expected, double most,
                                          const std::string& whose);

// One line about an output of a model, beside what a peer computes: its largest difference and
// value; and the former in parts of the latter, infinite where dtypes or shapes differ.
struct Compared {
    std::string line;
    double apart = 0;
};
[[nodiscard]] Compared compared(const std::string& name, const Array& found, const Array& expected,
                                const std::string& peer);

}  // namespace composit::reports
