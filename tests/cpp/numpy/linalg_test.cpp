// numpy.linalg and numpy.fft from C++: results that multiply back, errors, and transforms by their
// definition.
#include "composit/numpy/linalg.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/foreign/lapack.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/fft.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

namespace composit {
namespace {

using numpy::Tensor;
namespace linalg = numpy::linalg;
namespace fft = numpy::fft;

const double infinity = std::numeric_limits<double>::infinity();

std::vector<double> values(const Tensor& x) {
    const ir::Array array = execute::evaluate({ops::astype(x, ir::DType::float64)})[0];
    return {array.data_as<double>(), array.data_as<double>() + array.size()};
}

void expect_near(const Tensor& found, const Tensor& expected, double tolerance = 1e-12) {
    ASSERT_EQ(found.shape(), expected.shape());
    const auto a = values(found), b = values(expected);
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

Tensor matrix() { return numpy::array<double>({4, 1, -2, 1, 5, 0.5, -2, 0.5, 6}, {3, 3}); }
Tensor tall() { return numpy::array<double>({1, 2, 3, 4, 5, 7, -1, 0.5}, {4, 2}); }

TEST(Linalg, DecompositionsMultiplyBack) {
    const auto [q, r] = linalg::qr(tall());
    expect_near(numpy::matmul(q, r), tall());
    const auto [u, s, vh] = linalg::svd(tall(), false);
    expect_near(numpy::matmul(u * s, vh), tall());
    const auto [w, v] = linalg::eigh(matrix());
    expect_near(numpy::matmul(v * w, numpy::matrix_transpose(v)), matrix());
    const Tensor lower = linalg::cholesky(matrix());
    expect_near(numpy::matmul(lower, numpy::matrix_transpose(lower)), matrix());
    const Tensor upper = linalg::cholesky(matrix(), true);
    expect_near(upper, numpy::matrix_transpose(lower));
    expect_near(numpy::matmul(linalg::inv(matrix()), matrix()), numpy::eye(3));
    expect_near(numpy::matmul(linalg::pinv(tall()), tall()), numpy::eye(2));
    expect_near(linalg::matrix_power(matrix(), -2), linalg::inv(numpy::matmul(matrix(), matrix())));
}

TEST(Linalg, SolutionsSolve) {
    const Tensor b = numpy::array<double>({1, 2, 3});
    expect_near(numpy::matmul(matrix(), linalg::solve(matrix(), b)), b);
    const auto fit = linalg::lstsq(tall(), numpy::array<double>({1, 0, 2, 1}));
    const Tensor rest = numpy::matmul(tall(), fit.x) - numpy::array<double>({1, 0, 2, 1});
    expect_near(numpy::matmul(rest, tall()), numpy::zeros({2}));
    EXPECT_EQ(values(fit.rank), std::vector<double>{2});
    const auto parts = linalg::slogdet(matrix());
    EXPECT_NEAR(values(parts.sign)[0] * std::exp(values(parts.logabsdet)[0]),
                values(linalg::det(matrix()))[0], 1e-10);
}

TEST(Linalg, NormsOfEveryOrder) {
    const Tensor x = numpy::array<double>({3, -4, 0, 12}, {2, 2});
    EXPECT_DOUBLE_EQ(values(linalg::norm(x))[0], 13);
    EXPECT_DOUBLE_EQ(values(linalg::norm(x, 1))[0], 16);
    EXPECT_DOUBLE_EQ(values(linalg::norm(x, infinity))[0], 12);
    EXPECT_DOUBLE_EQ(values(linalg::norm(x, {}, 0))[0], 3);
    EXPECT_NEAR(values(linalg::norm(x, "nuc"))[0],
                values(linalg::norm(x, 2))[0] + values(linalg::norm(x, -2))[0], 1e-12);
    EXPECT_THROW(static_cast<void>(linalg::norm(x, 3)), ValueError);
    EXPECT_THROW(static_cast<void>(linalg::vector_norm(x, 0, "nuc")), ValueError);
    EXPECT_EQ(values(linalg::matrix_rank(numpy::zeros({2, 3})))[0], 0);
}

TEST(Linalg, ErrorsAreLinAlgErrors) {
    EXPECT_THROW(static_cast<void>(linalg::inv(tall())), LinAlgError);
    const Tensor singular = linalg::inv(numpy::zeros({2, 2}));
    EXPECT_THROW(static_cast<void>(execute::evaluate({singular})), LinAlgError);
    const Tensor indefinite = linalg::cholesky(-matrix());
    EXPECT_THROW(static_cast<void>(execute::evaluate({indefinite})), LinAlgError);
}

TEST(Linalg, TheLibraryIsNamed) {
    EXPECT_NE(foreign::lapack_in_use().path, "");
    EXPECT_NE(foreign::lapack_in_use().spelling.find("dpotrf"), std::string::npos);
}

// Sums as they are defined, of real numbers.
TEST(Fft, IsTheSumOfItsDefinition) {
    for (int64_t n : {1, 2, 5, 12, 64, 101, 131, 360}) {
        std::vector<double> x;
        for (int64_t j = 0; j < n; ++j) x.push_back(std::sin(static_cast<double>(j * j % 17)));
        const Tensor y = fft::fft(numpy::array<double>(x));
        const auto re = values(numpy::real(y)), im = values(numpy::imag(y));
        for (int64_t k = 0; k < n; ++k) {
            long double c = 0, s = 0;
            for (int64_t j = 0; j < n; ++j) {
                const long double angle = 2 * std::numbers::pi_v<long double> *
                                          static_cast<long double>(j * k % n) /
                                          static_cast<long double>(n);
                c += x[static_cast<size_t>(j)] * std::cos(angle);
                s -= x[static_cast<size_t>(j)] * std::sin(angle);
            }
            EXPECT_NEAR(re[static_cast<size_t>(k)], static_cast<double>(c), 1e-13 * 20);
            EXPECT_NEAR(im[static_cast<size_t>(k)], static_cast<double>(s), 1e-13 * 20);
        }
        expect_near(fft::irfft(fft::rfft(numpy::array<double>(x)), n), numpy::array<double>(x));
    }
}

TEST(Fft, RefusesWhatNumpyRefuses) {
    const Tensor x = numpy::array<double>({1, 2, 3});
    EXPECT_THROW(static_cast<void>(fft::fft(x, 0)), ValueError);
    EXPECT_THROW(static_cast<void>(fft::fft(x, {}, 1)), AxisError);
    EXPECT_THROW(static_cast<void>(fft::fft2(x)), AxisError);
    EXPECT_THROW(static_cast<void>(fft::norm_named("other")), ValueError);
    EXPECT_THROW(static_cast<void>(fft::fftfreq(0)), ZeroDivisionError);
}

}  // namespace
}  // namespace composit
