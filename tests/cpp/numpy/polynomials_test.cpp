// Polynomials: values, arithmetic, derivatives.
#include "composit/numpy/polynomials.h"

#include "values.h"

namespace composit::numpy {
namespace {

TEST(polynomials, values_and_arithmetic) {
    const Tensor p = array<double>({1, 0, -2}), q = array<double>({0, 1, -1});
    expect_near(polyval(p, array<double>({0, 3})), {2}, {-2, 7});
    expect_near(polyadd(p, array<double>({5})), {3}, {1, 0, 3});
    expect_near(polysub(array<double>({5}), p), {3}, {-1, 0, 7});
    expect_near(polymul(p, q), {4}, {1, -1, -2, 2});
    const std::vector<Tensor> parts = polydiv(p, array<double>({1, -1}));
    expect_near(parts[0], {2}, {1, 1});
    expect_near(parts[1], {1}, {-1});
    EXPECT_THROW((void)polymul(array<double>({1, 2}, {1, 2}), p), ValueError);
}

TEST(polynomials, derivatives_and_back) {
    const Tensor p = array<int64_t>({1, 2, 3});
    expect_values<int64_t>(polyder(p), {2}, {2, 2});
    expect_values<int64_t>(polyder(p, 3), {0}, {});
    expect_near(polyint(p, 1, array<double>({7})), {4}, {1 / 3.0, 1, 3, 7});
    expect_near(poly(array<double>({1, 2})), {3}, {1, -3, 2});
    EXPECT_THROW((void)polyder(p, -1), ValueError);
    EXPECT_THROW((void)polyint(p, 3, array<double>({1, 2})), ValueError);
}

TEST(polynomials, zeros_and_fits) {
    expect_near(roots(array<double>({0, 1, -3, 2, 0})), {3}, {2, 1, 0});
    EXPECT_EQ(roots(array<double>({0})).shape(), (Shape{0}));
    expect_near(poly(array<double>({2, 0, 0, 3}, {2, 2})), {3}, {1, -5, 6});
    const Tensor x = array<double>({0, 1, 2, 3}), y = array<double>({1, 3, 7, 13});
    expect_near(polyfit(x, y, 2).coefficients, {3}, {1, 1, 1}, 1e-9);
    EXPECT_THROW((void)polyfit(x, y, -1), ValueError);
    EXPECT_THROW((void)polyfit(y, array<double>({1}), 1), TypeError);
}

}  // namespace
}  // namespace composit::numpy
