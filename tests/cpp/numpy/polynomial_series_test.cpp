// Series of the bases of numpy.polynomial; tests/python compares with NumPy's, bit for bit.
#include "composit/numpy/polynomial_series.h"

#include "composit/numpy/creation.h"
#include "values.h"

namespace composit::numpy::polynomial {
namespace {

const Tensor c = array<double>({1, 2, 3});

TEST(polynomial_series, values_of_every_basis_at_two) {
    const Tensor x = array<double>({2});
    const double expected[] = {17, 26, 21.5, 51, 14, -4};
    for (int i = 0; i < 6; ++i)
        expect_values<double>(val(static_cast<Basis>(i), x, c), {1}, {expected[i]});
    expect_values<double>(vander(Basis::chebyshev, x, 3), {1, 4}, {1, 2, 7, 26});
}

TEST(polynomial_series, derivatives_undo_antiderivatives) {
    for (int i = 0; i < 6; ++i) {
        const auto basis = static_cast<Basis>(i);
        expect_values<double>(der(basis, integ(basis, c)), {3}, {1, 2, 3});
    }
    expect_values<double>(der(Basis::power, c), {2}, {2, 6});
    expect_values<double>(integ(Basis::power, c, 1, {array<double>({5}, {})}), {4}, {5, 1, 1, 1});
}

TEST(polynomial_series, zeros_at_the_end_are_left_out) {
    expect_values<double>(roots(Basis::power, array<double>({-4, 2, 0})), {1}, {2});
    expect_values<double>(companion(Basis::power, array<double>({6, -5, 1})), {2, 2},
                          {0, -6, 1, 5});
}

TEST(polynomial_series, mistakes_name_numpys_function) {
    expect_error<ValueError>([] { (void)der(Basis::legendre, c, -1); }, "legder: ");
    expect_error<ValueError>([] { (void)companion(Basis::hermite, ones({1})); }, "hermcompanion: ");
    expect_error<TypeError>([] { (void)fit(Basis::chebyshev, ones({2, 2}), c, {1}); }, "chebfit: ");
}

}  // namespace
}  // namespace composit::numpy::polynomial
