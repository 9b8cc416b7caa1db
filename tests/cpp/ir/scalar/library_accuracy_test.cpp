// The library's functions stay within 2 ulp (float32) and 4 ulp (float64) of the exact result.
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/library.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace composit::ir::scalar {
namespace {

using Exact = long double (*)(long double, long double);
using Unary = Expr (*)(const Expr&);
using Binary = Expr (*)(const Expr&, const Expr&);

struct Case {
    const char* name;
    Unary unary;
    Binary binary;
    Exact exact;
    double low, high;  // where half of the samples lie; the others are anywhere
};

long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

long double log_of_sum(long double x, long double y) {
    return std::max(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
}

long double log2_of_sum(long double x, long double y) {
    return std::max(x, y) + std::log1p(std::exp2(-std::fabs(x - y))) / std::log(2.0L);
}

// Newton's method, on the error function near 1/2 and on the logarithm of the tail elsewhere.
long double normal_quantile(long double p) {
    if (!(p >= 0 && p <= 1)) return std::numeric_limits<long double>::quiet_NaN();
    const long double q = p - 0.5L, tail = p < 0.5L ? p : 1 - p, root2 = std::sqrt(2.0L);
    if (tail == 0) return std::copysign(std::numeric_limits<long double>::infinity(), q);
    const auto density = [](long double z) {
        return std::exp(-z * z / 2) / std::sqrt(2 * 3.14159265358979323846264338327950288L);
    };
    long double z = std::fabs(q) < 0.2L ? 0 : std::sqrt(-2 * std::log(tail));
    for (int round = 0; round < 12; ++round) {
        if (std::fabs(q) < 0.2L) {
            z -= (std::erf(z / root2) - 2 * std::fabs(q)) / (2 * density(z));
        } else {
            const long double above = std::erfc(z / root2) / 2;
            z += std::log(above / tail) * above / density(z);
        }
    }
    return std::copysign(z, q);
}

#define UNARY(name, low, high, formula)                                                          \
    Case {                                                                                       \
        #name, name##_of, nullptr, [](long double x, long double) { return formula; }, low, high \
    }
#define BINARY(name, low, high, formula)                                                           \
    Case {                                                                                         \
        #name, nullptr, name##_of, [](long double x, long double y) { return formula; }, low, high \
    }

const Case cases[] = {
    UNARY(exp, -100, 88, std::exp(x)),
    UNARY(exp2, -140, 127, std::exp2(x)),
    UNARY(expm1, -2, 80, std::expm1(x)),
    UNARY(sigmoid, -80, 20, sigmoid(x)),
    UNARY(silu, -80, 20, x* sigmoid(x)),
    UNARY(log, 0, 3, std::log(x)),
    UNARY(log2, 0, 3, std::log2(x)),
    UNARY(log10, 0, 3, std::log10(x)),
    UNARY(log1p, -1, 3, std::log1p(x)),
    UNARY(softplus, -80, 20, log_of_sum(x, 0)),
    BINARY(logaddexp, 0, 80, log_of_sum(x, y)),
    BINARY(logaddexp2, 0, 80, log2_of_sum(x, y)),
    UNARY(tanh, -3, 3, std::tanh(x)),
    UNARY(sinh, -3, 88, std::sinh(x)),
    UNARY(cosh, -3, 88, std::cosh(x)),
    UNARY(arcsinh, -3, 3, std::asinh(x)),
    UNARY(arccosh, 1, 3, std::acosh(x)),
    UNARY(arctanh, -1, 1, std::atanh(x)),
    UNARY(erf, -4, 4, std::erf(x)),
    UNARY(erfc, -2, 9, std::erfc(x)),
    UNARY(gelu, -12, 4, x / 2 * std::erfc(-x / std::sqrt(2.0L))),
    UNARY(ndtri, 0, 1, normal_quantile(x)),
    UNARY(sin, -100, 100, std::sin(x)),
    UNARY(cos, -100, 100, std::cos(x)),
    UNARY(tan, -100, 100, std::tan(x)),
    UNARY(arcsin, -1, 1, std::asin(x)),
    UNARY(arccos, -1, 1, std::acos(x)),
    UNARY(arctan, -5, 5, std::atan(x)),
    BINARY(arctan2, -5, 5, std::atan2(x, y)),
    BINARY(power, 0, 9, std::pow(x, y)),
    UNARY(cbrt, -9, 9, std::cbrt(x)),
    BINARY(hypot, -9, 9, std::hypot(x, y)),
    UNARY(lgamma, -2, 20, std::lgamma(x)),
};

class Accuracy : public ::testing::TestWithParam<Case> {};

template <class T>
T run(const Expr& body, DType dtype, T x, T y) {
    const auto result = evaluate({body}, {bits_of(dtype, x), bits_of(dtype, y)})[0];
    return static_cast<T>(value_of(dtype, result));
}

// |got - exact| in units of the last place that `exact` has in T.
template <class T>
long double error_in_ulp(T got, long double exact) {
    const int digits = std::numeric_limits<T>::digits;
    const int lowest = std::numeric_limits<T>::min_exponent;
    int exponent = 0;
    std::frexp(exact, &exponent);
    return std::fabs(got - exact) / std::ldexp(1.0L, std::max(exponent, lowest) - digits);
}

template <class T, class Word>
void check(const Case& function, DType dtype, long double bound) {
    const Expr x = Expr::argument(0, dtype);
    const Expr y = Expr::argument(1, dtype);
    const Expr body = simplify({function.unary ? function.unary(x) : function.binary(x, y)})[0];
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> inside(function.low, function.high);
    const bool is_lgamma = std::string(function.name) == "lgamma";
    for (int i = 0; i < 3000; ++i) {
        T a =
            i % 2 ? static_cast<T>(inside(random)) : std::bit_cast<T>(static_cast<Word>(random()));
        T b =
            i % 3 ? static_cast<T>(inside(random)) : std::bit_cast<T>(static_cast<Word>(random()));
        if (is_lgamma && a < -2) a = -a;  // its zeros have their own bound, see library.h
        const long double exact = function.exact(a, b);
        const T got = run(body, dtype, a, b);
        if (std::isnan(exact)) {
            // Formulas of this test are NaN where an infinity cancels.
            const bool is_finite = !std::isinf(a) && !std::isinf(b);
            EXPECT_TRUE(std::isnan(got) || !is_finite) << a << " " << b;
        } else if (std::isinf(static_cast<T>(exact)) || std::isinf(got)) {
            EXPECT_GE(std::fabs(got), std::numeric_limits<T>::max()) << a << " " << b;
            EXPECT_EQ(std::signbit(got), std::signbit(exact)) << a << " " << b;
        } else {
            EXPECT_LE(error_in_ulp(got, exact), bound) << a << " " << b << " gave " << got;
        }
    }
}

TEST_P(Accuracy, Float32) { check<float, uint32_t>(GetParam(), DType::float32, 2); }
TEST_P(Accuracy, Float64) { check<double, uint64_t>(GetParam(), DType::float64, 4); }

INSTANTIATE_TEST_SUITE_P(Library, Accuracy, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace composit::ir::scalar
