// Windows, correlations and cross products from C++.
#include "composit/numpy/windows.h"

#include "composit/numpy/correlation.h"
#include "values.h"

namespace composit::numpy {
namespace {

TEST(windows, have_numpys_values) {
    expect_values<double>(bartlett(5), {5}, {0, 0.5, 1, 0.5, 0});
    expect_near(hanning(5), {5}, {0, 0.5, 1, 0.5, 0}, 1e-15);
    expect_near(hamming(3), {3}, {0.08, 1, 0.08}, 1e-15);
    expect_near(blackman(3), {3}, {0, 1, 0}, 1e-15);
    expect_near(kaiser(3, 0), {3}, {1, 1, 1}, 1e-15);
    expect_values<double>(hanning(1), {1}, {1});
    EXPECT_EQ(blackman(0).shape(), Shape{0});
    expect_near(i0(array<double>({0, 1, -10})), {3}, {1, 1.2660658777520084, 2815.716628466254},
                1e-12);
    EXPECT_EQ(i0(array<float>({1})).dtype(), DType::float32);
}

TEST(correlation, sequences_and_vectors) {
    const Tensor a = array<int32_t>({1, 2, 3}), v = array<int32_t>({0, 1, 5});
    expect_values<int32_t>(convolve(a, v), {5}, {0, 1, 7, 13, 15});
    expect_values<int32_t>(convolve(a, v, "same"), {3}, {1, 7, 13});
    expect_values<int32_t>(correlate(a, v), {1}, {17});
    expect_values<int32_t>(correlate(a, v, "full"), {5}, {5, 11, 17, 3, 0});
    expect_values<int32_t>(cross(a, v), {3}, {7, -5, 1});
    expect_error<ValueError>([&] { (void)convolve(a, zeros({0})); }, "convolve: v cannot be empty");
    expect_error<ValueError>([&] { (void)correlate(a, v, "some"); }, "mode must be one of");
    expect_error<ValueError>([&] { (void)cross(a, ones({4})); }, "incompatible dimensions");
}

}  // namespace
}  // namespace composit::numpy
