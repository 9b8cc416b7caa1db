// The constants of Fourier transforms: roots of unity, rounded once, in the layouts that products
// and maps read. Each is one leaf, which is kept for calls that need it again.
#pragma once

#include "composit/numpy/operand.h"

#include <complex>
#include <cstdint>
#include <vector>

namespace composit::numpy::fft {

using LongComplex = std::complex<long double>;

// exp(2 pi i k / n), within an ulp of long double; exact where a coordinate is 0, 1 or 1/2.
[[nodiscard]] LongComplex root_of_unity(int64_t k, int64_t n);

// [part of the result][k][part of the operand][j]: the matrix that takes real and imaginary parts
// of `inputs` numbers to those of the first `outputs` of their transform of length n, whose
// exponents have that sign. A real operand, or the real part of the result alone, has one part.
struct MatrixShape {
    int64_t n, inputs, outputs;
    int sign;
    bool is_real_input, is_real_output;

    auto operator<=>(const MatrixShape&) const = default;
};
[[nodiscard]] Tensor transform_matrix(const MatrixShape& shape, DType dtype);

// [part][k][j]: exp(sign 2 pi i j k / n) for k < rows, j < columns.
[[nodiscard]] Tensor twiddles(int64_t n, int64_t rows, int64_t columns, int sign, DType dtype);

// Bluestein's: [part][j], exp(sign pi i j^2 / n) for j < count, and [part][k], the transform of
// length m of its conjugate, for j from 1 - before to after - 1, over m.
[[nodiscard]] Tensor chirp(int64_t n, int64_t count, int sign, DType dtype);
struct ChirpTransform {
    int64_t n, m, before, after;
    int sign;
};
[[nodiscard]] Tensor chirp_transform(const ChirpTransform& chirp, DType dtype);

}  // namespace composit::numpy::fft
