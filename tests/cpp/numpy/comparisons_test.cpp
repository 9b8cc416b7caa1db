// Comparisons, parts of complex numbers, fix, sinc and nan_to_num from C++.
#include "composit/numpy/comparisons.h"

#include "composit/numpy/complex_parts.h"
#include "composit/numpy/functions.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/special.h"
#include "values.h"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace composit::numpy {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(comparisons, within_tolerances) {
    const Tensor x = array<double>({1, 1 + 1e-6, 1.1, infinity, not_a_number});
    const Tensor y = array<double>({1, 1, 1, infinity, not_a_number});
    expect_values<bool>(isclose(x, y), {5}, {true, true, false, true, false});
    expect_values<bool>(isclose(x, y, 0.0, 0.2, true), {5}, {true, true, true, true, true});
    expect_values<bool>(isclose(array<uint8_t>({250}), 252, 0.0, 3.0), {1}, {true});
    EXPECT_FALSE(allclose(x, y));
    EXPECT_TRUE(allclose(x, y, 0.2, 0.0, true));
    expect_error<ValueError>([&] { (void)isclose(x, zeros({2})); }, "isclose: ");
}

TEST(comparisons, as_wholes) {
    const Tensor x = array<float>({1, 2, 3});
    EXPECT_TRUE(array_equal(x, array<int64_t>({1, 2, 3})));
    EXPECT_FALSE(array_equal(x, 1));
    EXPECT_FALSE(array_equal(array<double>({not_a_number}), array<double>({not_a_number})));
    EXPECT_TRUE(array_equal(array<double>({not_a_number}), array<double>({not_a_number}), true));
    EXPECT_TRUE(array_equiv(ones({2, 3}), 1));
    EXPECT_FALSE(array_equiv(ones({2, 3}), ones({2})));
    const Tensor input = ir::input("x", DType::float64, {3});
    expect_error<NotSupported>([&] { (void)allclose(input, x); }, "allclose: it needs the values");
    expect_error<NotSupported>([&] { (void)array_equal(input, x); }, "placeholder 'x'");
    expect_error<NotSupported>([&] { (void)array_equiv(input, x); }, "use all(equal(a1, a2))");
}

TEST(comparisons, infinities) {
    const Tensor x = array<double>({1, infinity, -infinity, not_a_number});
    expect_values<bool>(isposinf(x), {4}, {false, true, false, false});
    expect_values<bool>(isneginf(x), {4}, {false, false, true, false});
    expect_values<bool>(isposinf(3), {}, {false});
}

TEST(complex_parts, of_real_dtypes) {
    const Tensor x = array<float>({1, -2});
    expect_values<float>(real(x), {2}, {1, -2});
    expect_values<float>(imag(x), {2}, {0, 0});
    expect_values<float>(conj(x), {2}, {1, -2});
    EXPECT_EQ(conjugate(array<bool>({true})).dtype(), DType::int8);
    expect_near(angle(x, true), {2}, {0, 180}, 1e-4);
    expect_near(angle(array<double>({-1})), {1}, {std::numbers::pi});
    expect_values<bool>(isreal(x), {2}, {true, true});
    expect_values<bool>(iscomplex(x), {2}, {false, false});
    EXPECT_TRUE(isrealobj(x));
    EXPECT_EQ(real_if_close(x).dtype(), DType::float32);
}

TEST(complex_parts, of_complex_dtypes) {
    const Tensor z = multiply(array<float>({1, -2, 0}), std::complex<double>(0, 1)) + 2.0;
    EXPECT_EQ(z.dtype(), DType::complex64);
    EXPECT_TRUE(iscomplexobj(z));
    expect_values<float>(real(z), {3}, {2, 2, 2});
    expect_values<float>(imag(conj(z)), {3}, {-1, 2, 0});
    expect_values<bool>(iscomplex(z), {3}, {true, true, false});
    expect_near(angle(z), {3}, {std::atan2(1, 2), std::atan2(-2, 2), 0}, 1e-6);
    expect_values<float>(real(multiply(z, z)), {3}, {3, 0, 4});
    EXPECT_EQ(real_if_close(z).dtype(), DType::complex64);
    EXPECT_EQ(real_if_close(z, 1000).dtype(), DType::complex64);
    EXPECT_EQ(real_if_close(apply("multiply", {z, 1e-9}), 0.5).dtype(), DType::float32);
    expect_error<NotSupported>([&] { (void)real_if_close(ir::input("z", z.dtype(), {2})); },
                               "real_if_close: ");
}

TEST(special, replacements_and_sinc) {
    const Tensor x =
        ops::astype(array<double>({1.5, infinity, -infinity, not_a_number}), DType::float32);
    expect_values<float>(nan_to_num(x, 7, 8, 9), {4}, {1.5, 8, 9, 7});
    const float most = std::numeric_limits<float>::max();
    expect_values<float>(nan_to_num(x), {4}, {1.5, most, -most, 0});
    expect_values<float>(fix(array<float>({1.5, -1.5})), {2}, {1, -1});
    expect_near(sinc(array<double>({0, 0.5, 1})), {3}, {1, 2 / std::numbers::pi, 0}, 1e-15);
    EXPECT_EQ(sinc(array<int32_t>({1})).dtype(), DType::float64);
}

}  // namespace
}  // namespace composit::numpy
