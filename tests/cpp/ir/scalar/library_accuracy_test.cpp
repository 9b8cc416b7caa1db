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
    // The results of negative arguments in float32 have the error of a number as large as this.
    long double least = 0;
};

long double sigmoid(long double x) { return 1 / (1 + std::exp(-x)); }

// Where the larger operand cancels the logarithm, without its loss.
long double log_of_sum(long double x, long double y) {
    const long double larger = std::max(x, y);
    if (larger > -1 && larger <= 0)
        return std::log1p(std::expm1(larger) + std::exp(std::min(x, y)));
    return std::max(x, y) + std::log1p(std::exp(-std::fabs(x - y)));
}

long double log2_of_sum(long double x, long double y) {
    const long double ln2 = std::log(2.0L);
    const long double larger = std::max(x, y);
    if (larger > -1 && larger <= 0)
        return std::log1p(std::expm1(larger * ln2) + std::exp2(std::min(x, y))) / ln2;
    return std::max(x, y) + std::log1p(std::exp2(-std::fabs(x - y))) / ln2;
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
    BINARY(logaddexp, -2, 3, log_of_sum(x, y)),
    BINARY(logaddexp2, -2, 3, log2_of_sum(x, y)),
    UNARY(tanh, -3, 3, std::tanh(x)),
    UNARY(sinh, -3, 88, std::sinh(x)),
    UNARY(cosh, -3, 88, std::cosh(x)),
    UNARY(arcsinh, -3, 3, std::asinh(x)),
    UNARY(arccosh, 1, 3, std::acosh(x)),
    UNARY(arctanh, -1, 1, std::atanh(x)),
    UNARY(erf, -4, 4, std::erf(x)),
    UNARY(erfc, -2, 9, std::erfc(x)),
    Case{"gelu", gelu_of, nullptr,
         [](long double x, long double) { return x / 2 * std::erfc(-x / std::sqrt(2.0L)); }, -12, 4,
         0.25L},
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
    UNARY(lgamma, -18, 18, std::lgamma(x)),
};

class Accuracy : public ::testing::TestWithParam<Case> {};

template <class T>
T run(const Expr& body, DType dtype, T x, T y) {
    const auto result = evaluate({body}, {bits_of(dtype, x), bits_of(dtype, y)})[0];
    return static_cast<T>(value_of(dtype, result));
}

// The unit of the last place that `exact` has in T.
template <class T>
long double unit_of(long double exact) {
    const int digits = std::numeric_limits<T>::digits;
    const int lowest = std::numeric_limits<T>::min_exponent;
    int exponent = 0;
    std::frexp(exact, &exponent);
    return std::ldexp(1.0L, std::max(exponent, lowest) - digits);
}

template <class T>
long double error_in_ulp(T got, long double exact, long double least = 0) {
    return std::fabs(got - exact) / unit_of<T>(std::max(std::fabs(exact), least));
}

template <class T, class Word>
void check(const Case& function, DType dtype, long double bound) {
    const Expr x = Expr::argument(0, dtype);
    const Expr y = Expr::argument(1, dtype);
    const Expr body = simplify({function.unary ? function.unary(x) : function.binary(x, y)})[0];
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> inside(function.low, function.high);
    for (int i = 0; i < 3000; ++i) {
        T a =
            i % 2 ? static_cast<T>(inside(random)) : std::bit_cast<T>(static_cast<Word>(random()));
        T b =
            i % 3 ? static_cast<T>(inside(random)) : std::bit_cast<T>(static_cast<Word>(random()));
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
            const long double least = sizeof(T) == 4 && a < 0 ? function.least : 0;
            EXPECT_LE(error_in_ulp(got, exact, least), bound) << a << " " << b << " gave " << got;
        }
    }
}

TEST_P(Accuracy, Float32) { check<float, uint32_t>(GetParam(), DType::float32, 2); }
TEST_P(Accuracy, Float64) { check<double, uint64_t>(GetParam(), DType::float64, 4); }

INSTANTIATE_TEST_SUITE_P(Library, Accuracy, ::testing::ValuesIn(cases),
                         [](const auto& info) { return std::string(info.param.name); });

// Near its zero the derivative of gelu has the error of a number near Phi(-|x|).
template <class T>
void check_slope_of_gelu(DType dtype, long double bound) {
    const Expr body = simplify({gelu_slope_of(Expr::argument(0, dtype))})[0];
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> wide(-14.6, 6), close(-2, 2);
    for (int i = 0; i < 6000; ++i) {
        const auto x = static_cast<T>(i % 2 ? wide(random) : close(random));
        const long double z = x, root2 = std::sqrt(2.0L);
        const long double density = std::exp(-z * z / 2) / std::sqrt(2 * std::acos(-1.0L));
        const long double exact = std::erfc(-z / root2) / 2 + z * density;
        const long double size = std::max(std::fabs(exact), std::erfc(std::fabs(z) / root2) / 2);
        const T got = run(body, dtype, x, x);
        EXPECT_LE(std::fabs(got - exact) / unit_of<T>(size), bound) << x << " gave " << got;
    }
}

TEST(LibraryAccuracy, TheSlopeOfGeluIsClose) {
    check_slope_of_gelu<float>(DType::float32, 2.5);
    check_slope_of_gelu<double>(DType::float64, 8);
}

// Where terms cancel, against results of 300 bits: doubles beside zeros and poles of lgamma, pairs
// of which one exponential is nearly what the other lacks from 1.
struct Cancelling {
    Unary unary;
    Binary binary;
    double x, y, exact;
};

const Cancelling cancelling[] = {
    {lgamma_of, nullptr, -0x1.3a7fc9600f86cp+1, 0, 0x1.0323b6d1fe86dp-54},
    {lgamma_of, nullptr, -0x1.5fb410a1bd901p+1, 0, 0x1.8fb8530ba7689p-53},
    {lgamma_of, nullptr, -0x1.fa471547c2fe5p+1, 0, -0x1.ddc0336980b58p-52},
    {lgamma_of, nullptr, -2.5, 0, -0x1.ccbf9f5ed0f16p-5},
    {lgamma_of, nullptr, -0x1.4086a57f0537bp+2, 0, 0x1.7f116ad99ff3ap-29},
    {lgamma_of, nullptr, -0x1.c000000000007p+3, 0, 0x1.b4eee31d76314p+2},
    {lgamma_of, nullptr, -0x1.1000000000001p+4, 0, -0x1.df3fff389c7c3p-3},
    {nullptr, logaddexp_of, -0.25, -0x1.82399c00a0cfap+0, -0x1.55b8c91025eb7p-42},
    {nullptr, logaddexp_of, -0.5, -0x1.dd91afe0119fap-1, 0x1.77d14e01bcc0fp-32},
    {nullptr, logaddexp_of, -0x1.62e42fefa39efp-1, -0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56},
    {nullptr, logaddexp_of, -0x1.ba20da932c41bp+2, -0x1.0624dd2f1a9fcp-10, -0x1.c4bbf16fbee52p-53},
    {nullptr, logaddexp_of, -0x1.87e92154ef7acp-665, -0x1.cc84781cfb046p+8,
     -0x1.606cf3c6858ecp-676},
    {nullptr, logaddexp2_of, -0.25, -0x1.53737b9511ddcp+1, -0x1.b0116496a5108p-42},
    {nullptr, logaddexp2_of, -0x1.c58484651f4d5p+0, -0.5, 0x1.09aa1c03766c3p-31},
    {nullptr, logaddexp2_of, -1.0, -0x1.0000000000080p+0, -0x1.fffffffffffd4p-47},
    {nullptr, logaddexp2_of, -0x1.0624dd2f1a9fcp-10, -0x1.4fd7746a87c72p+3, -0x1.dd94df8ed2431p-53},
    {nullptr, logaddexp2_of, -0x1.87e92154ef7acp-665, -0x1.4c751f5b94a74p+9,
     -0x1.60b4bda9aa075p-676},
};

TEST(LibraryAccuracy, HoldsWhereTermsCancel) {
    const Expr x = Expr::argument(0, DType::float64);
    const Expr y = Expr::argument(1, DType::float64);
    for (const Cancelling& c : cancelling) {
        const Expr body = c.unary ? c.unary(x) : c.binary(x, y);
        const double got = run(body, DType::float64, c.x, c.y);
        EXPECT_LE(error_in_ulp(got, static_cast<long double>(c.exact)), 3.5)
            << c.x << " " << c.y << " gave " << got;
    }
}

}  // namespace
}  // namespace composit::ir::scalar
