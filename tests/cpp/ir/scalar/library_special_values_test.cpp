// The library's functions at signed zeros, infinities, NaN and subnormals are C's, to the bit.
#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"
#include "composit/ir/scalar/library.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace composit::ir::scalar {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

using Unary = Expr (*)(const Expr&);
using Binary = Expr (*)(const Expr&, const Expr&);

double run(Unary function, DType dtype, double x) {
    const Expr body = function(Expr::argument(0, dtype));
    return value_of(dtype, evaluate({body}, {bits_of(dtype, x)})[0]);
}

double run(Binary function, DType dtype, double x, double y) {
    const Expr body = function(Expr::argument(0, dtype), Expr::argument(1, dtype));
    return value_of(dtype, evaluate({body}, {bits_of(dtype, x), bits_of(dtype, y)})[0]);
}

void expect_same(double got, double expected) {
    if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(got)) << got;
    } else {
        EXPECT_EQ(got, expected);
        EXPECT_EQ(std::signbit(got), std::signbit(expected));
    }
}

struct Special {
    Unary function;
    double (*c)(double);
};

const Special like_c[] = {
    {exp_of, std::exp},       {exp2_of, std::exp2},     {expm1_of, std::expm1},
    {log_of, std::log},       {log2_of, std::log2},     {log10_of, std::log10},
    {log1p_of, std::log1p},   {tanh_of, std::tanh},     {sinh_of, std::sinh},
    {cosh_of, std::cosh},     {arcsinh_of, std::asinh}, {arccosh_of, std::acosh},
    {arctanh_of, std::atanh}, {erf_of, std::erf},       {erfc_of, std::erfc},
    {sin_of, std::sin},       {cos_of, std::cos},       {tan_of, std::tan},
    {arcsin_of, std::asin},   {arctan_of, std::atan},   {cbrt_of, std::cbrt},
    {lgamma_of, std::lgamma},
};

TEST(LibrarySpecialValues, TheNormalQuantileIsInfiniteAtItsEndsAndNaNBeyond) {
    for (const DType dtype : {DType::float32, DType::float64}) {
        expect_same(run(ndtri_of, dtype, 0.0), -infinity);
        expect_same(run(ndtri_of, dtype, -0.0), -infinity);
        expect_same(run(ndtri_of, dtype, 1.0), infinity);
        expect_same(run(ndtri_of, dtype, 0.5), 0.0);
        for (const double x : {-1e-30, 1.25, infinity, -infinity, nan})
            expect_same(run(ndtri_of, dtype, x), nan);
    }
}

TEST(LibrarySpecialValues, AreThoseOfC) {
    for (const DType dtype : {DType::float32, DType::float64}) {
        for (size_t i = 0; i < std::size(like_c); ++i) {
            for (const double x : {0.0, -0.0, infinity, -infinity, nan}) {
                SCOPED_TRACE(testing::Message() << "function " << i << " at " << x);
                const double expected = like_c[i].c(x);
                const double rounded = value_of(dtype, bits_of(dtype, expected));
                expect_same(run(like_c[i].function, dtype, x), rounded);
            }
        }
    }
}

TEST(LibrarySpecialValues, OutsideTheDomainIsNan) {
    for (const DType dtype : {DType::float32, DType::float64}) {
        for (const Unary function : {log_of, log2_of, log10_of}) {
            expect_same(run(function, dtype, -1), nan);
            expect_same(run(function, dtype, -1e-40), nan);
        }
        expect_same(run(log1p_of, dtype, -1), -infinity);
        expect_same(run(log1p_of, dtype, -1.5), nan);
        for (const Unary function : {arcsin_of, arccos_of, arctanh_of}) {
            expect_same(run(function, dtype, 1.5), nan);
            expect_same(run(function, dtype, -infinity), nan);
        }
        expect_same(run(arctanh_of, dtype, -1), -infinity);
        expect_same(run(arccosh_of, dtype, 0.5), nan);
        expect_same(run(arccosh_of, dtype, -5), nan);
        expect_same(run(lgamma_of, dtype, -3), infinity);
    }
}

TEST(LibrarySpecialValues, OfActivationsAreLimits) {
    for (const DType dtype : {DType::float32, DType::float64}) {
        for (const Unary function : {silu_of, gelu_of}) {
            expect_same(run(function, dtype, infinity), infinity);
            expect_same(run(function, dtype, -infinity), -0.0);
            expect_same(run(function, dtype, -0.0), -0.0);
            expect_same(run(function, dtype, 0.0), 0.0);
            expect_same(run(function, dtype, nan), nan);
        }
        expect_same(run(gelu_slope_of, dtype, infinity), 1);
        expect_same(run(gelu_slope_of, dtype, -infinity), -0.0);
        expect_same(run(gelu_slope_of, dtype, -0.0), 0.5);
        expect_same(run(gelu_slope_of, dtype, nan), nan);
        expect_same(run(sigmoid_of, dtype, infinity), 1);
        expect_same(run(sigmoid_of, dtype, -infinity), 0);
        expect_same(run(sigmoid_of, dtype, -0.0), 0.5);
        expect_same(run(softplus_of, dtype, infinity), infinity);
        expect_same(run(softplus_of, dtype, -infinity), 0);
        expect_same(run(softplus_of, dtype, nan), nan);
    }
}

TEST(LibrarySpecialValues, SubnormalsStay) {
    for (const Unary function : {expm1_of, log1p_of, tanh_of, sinh_of, arcsinh_of, arctanh_of,
                                 sin_of, tan_of, arcsin_of, arctan_of}) {
        expect_same(run(function, DType::float32, 0x1p-149), 0x1p-149);
        expect_same(run(function, DType::float32, -0x1.8p-140), -0x1.8p-140);
        expect_same(run(function, DType::float64, 0x1p-1074), 0x1p-1074);
        expect_same(run(function, DType::float64, -0x1.8p-1060), -0x1.8p-1060);
    }
    expect_same(run(exp_of, DType::float32, -103), 0x1p-149);
    expect_same(run(exp_of, DType::float64, -745), 0x1p-1074);
    expect_same(run(sigmoid_of, DType::float32, -103), 0x1p-149);
    expect_same(run(log2_of, DType::float32, 0x1p-149), -149);
    expect_same(run(log2_of, DType::float64, 0x1p-1074), -1074);
    expect_same(run(cbrt_of, DType::float64, 0x1p-1074), std::cbrt(0x1p-1074));
}

const double samples[] = {0.0,  -0.0, 0.5,  -0.5, 1.0,  -1.0,     2.0,       -2.0, 3.0,
                          -3.0, 2.5,  -2.5, 1e3,  -1e3, infinity, -infinity, nan};

TEST(LibrarySpecialValues, OfPowerAreThoseOfC) {
    for (const double x : samples) {
        for (const double y : samples) {
            SCOPED_TRACE(testing::Message() << x << " ^ " << y);
            const double expected = std::pow(x, y);
            if (!std::isnan(expected) && expected != 0 && std::isfinite(expected) &&
                std::fabs(expected) != 1)
                continue;
            expect_same(run(power_of, DType::float64, x, y), expected);
            if (std::isnan(expected) || std::isinf(x) || std::isinf(y) || x == 0 || y == 0)
                expect_same(run(power_of, DType::float32, x, y), expected);
        }
    }
}

TEST(LibrarySpecialValues, OfArctan2AndHypotAreThoseOfC) {
    for (const double x : samples) {
        for (const double y : samples) {
            SCOPED_TRACE(testing::Message() << x << ", " << y);
            if (std::isfinite(x) && std::isfinite(y) && x != 0 && y != 0) continue;
            expect_same(run(arctan2_of, DType::float64, x, y), std::atan2(x, y));
            expect_same(run(hypot_of, DType::float64, x, y), std::hypot(x, y));
            expect_same(run(hypot_of, DType::float32, x, y), std::hypot(x, y));
        }
    }
}

TEST(LibrarySpecialValues, OfLogaddexpAreNumpys) {
    for (const Binary function : {logaddexp_of, logaddexp2_of}) {
        for (const DType dtype : {DType::float32, DType::float64}) {
            expect_same(run(function, dtype, infinity, infinity), infinity);
            expect_same(run(function, dtype, -infinity, -infinity), -infinity);
            expect_same(run(function, dtype, infinity, -infinity), infinity);
            expect_same(run(function, dtype, -infinity, 3), 3);
            expect_same(run(function, dtype, nan, 3), nan);
            expect_same(run(function, dtype, 3, nan), nan);
        }
    }
}

TEST(LibrarySpecialValues, PowersComeOutExact) {
    for (int n = -1074; n < 1024; ++n)
        expect_same(run(log2_of, DType::float64, std::ldexp(1.0, n)), n);
    for (int n = 0; n <= 22; ++n) expect_same(run(log10_of, DType::float64, std::pow(10.0, n)), n);
    for (int n = -20; n <= 20; ++n)
        expect_same(run(cbrt_of, DType::float64, static_cast<double>(n) * n * n), n);
    for (int n = -1074; n < 1024; ++n)
        expect_same(run(exp2_of, DType::float64, n), std::ldexp(1.0, n));
}

TEST(LibrarySpecialValues, OtherDtypesAreRefusedByName) {
    EXPECT_THROW(exp_of(Expr::argument(0, DType::int32)), NotSupported);
    EXPECT_THROW(sin_of(Expr::argument(0, DType::float16)), NotSupported);
    EXPECT_THROW(log_of(Expr::argument(0, DType::complex64)), NotSupported);
}

}  // namespace
}  // namespace composit::ir::scalar
