// One axis of a Fourier transform, on real and imaginary parts.
//
// n = f1 f2 … is cut into factors of which each is a product with a small matrix; between two of
// them every element is multiplied by a root of unity (Cooley and Tukey, 1965, in Stockham's order,
// which needs no reordering at the end). A length with a large prime factor is a convolution of
// smooth length (Bluestein, 1970).
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <vector>

namespace composit::numpy::fft {

struct Transform {
    int64_t n = 1;
    int sign = -1;                // of the exponents
    int64_t outputs = 1;          // the first of the n results, which are wanted
    bool is_real_output = false;  // their real parts alone
};

// x: [part][length][…] of float32 or float64, one part for real numbers, two for real and imaginary
// parts; cropped to n, or with zeros behind. The result: [part][outputs][…]. Not scaled.
[[nodiscard]] Tensor transformed(const Tensor& x, const Transform& transform);

// The factors that a length is cut into, in order; empty when it has a prime factor that is too
// large.
[[nodiscard]] std::vector<int64_t> factors_of(int64_t n);

}  // namespace composit::numpy::fft
