// The C library's functions as references: float64 for results in float32, long double for float64;
// and how far results are from them.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace {

template <class T>
T sigmoid(T x) {
    return 1 / (1 + std::exp(-x));
}

// log(exp(x) + exp(y)); where the larger operand cancels the logarithm, without its loss.
template <class T>
T log_of_sum(T x, T y) {
    if (x != x || y != y) return x + y;
    const T larger = std::fmax(x, y), smaller = std::fmin(x, y);
    if (larger <= 0 && larger > -1) return std::log1p(std::expm1(larger) + std::exp(smaller));
    return x == y ? x + std::log(T(2)) : larger + std::log1p(std::exp(smaller - larger));
}

template <class T>
T log2_of_sum(T x, T y) {
    if (x != x || y != y) return x + y;
    const T ln2 = std::log(T(2)), larger = std::fmax(x, y), smaller = std::fmin(x, y);
    if (larger <= 0 && larger > -1)
        return std::log1p(std::expm1(larger * ln2) + std::exp2(smaller)) / ln2;
    return x == y ? x + 1 : larger + std::log1p(std::exp2(smaller - larger)) / ln2;
}

// Newton's method, on the error function near 1/2 and on the logarithm of the tail elsewhere.
template <class T>
T normal_quantile(T p) {
    if (!(p >= 0 && p <= 1)) return std::numeric_limits<T>::quiet_NaN();
    const T half = T(1) / 2, q = p - half, tail = p < half ? p : 1 - p, root2 = std::sqrt(T(2));
    if (tail == 0) return std::copysign(std::numeric_limits<T>::infinity(), q);
    const T two_pi = 2 * std::acos(T(-1));
    const bool is_near = std::fabs(q) < T(0.2);
    T z = is_near ? std::fabs(q) * std::sqrt(two_pi) : std::sqrt(-2 * std::log(tail));
    for (int round = 0; round < 12; ++round) {
        const T density = std::exp(-z * z / 2) / std::sqrt(two_pi);
        const T above = std::erfc(z / root2) / 2;
        const T step = is_near ? (2 * std::fabs(q) - std::erf(z / root2)) / (2 * density)
                               : std::log(above / tail) * above / density;
        z += step;
        if (std::fabs(step) <= std::numeric_limits<T>::epsilon() * z) break;
    }
    return std::copysign(z, q);
}

// |got - exact| in units of the last place that `exact` has in Float, or `least` if that is larger;
// infinity where special values differ.
template <class Float, class Exact>
double error_in_ulp(Float got, Exact exact, Exact least = 0) {
    const Float rounded = static_cast<Float>(exact);
    if (rounded != rounded || got != got)
        return (rounded != rounded) == (got != got) ? 0 : HUGE_VAL;
    if (std::isinf(got) || std::isinf(rounded)) {
        // Overflow may begin an ulp early or late.
        const Float largest = std::numeric_limits<Float>::max();
        const bool is_large = std::fabs(got) >= largest && std::fabs(rounded) >= largest;
        return is_large && std::signbit(got) == std::signbit(rounded) ? 0 : HUGE_VAL;
    }
    if (exact == 0) return got == 0 ? 0 : HUGE_VAL;
    constexpr int digits = std::numeric_limits<Float>::digits;
    constexpr int lowest = std::numeric_limits<Float>::min_exponent;
    const int exponent = std::max(std::ilogb(std::fmax(std::fabs(exact), least)) + 1, lowest);
    return static_cast<double>(std::ldexp(std::fabs(Exact(got) - exact), digits - exponent));
}

template <class Float, class Exact, class Function>
void compare(const Float* x, const Float* y, const Float* got, int64_t n, double* errors,
             Function function) {
    for (int64_t i = 0; i < n; ++i)
        errors[i] = error_in_ulp(got[i], function(Exact(x[i]), Exact(y[i])));
}

}  // namespace

// name_float32(x, y, got, n, errors) and name_float64; of one operand, y is not used.
#define REFERENCE_BY(Wide, name, formula)                                                          \
    extern "C" void name##_float32(const float* x, const float* y, const float* got, int64_t n,    \
                                   double* errors) {                                               \
        using T = Wide;                                                                            \
        compare<float, T>(x, y, got, n, errors,                                                    \
                          [](T x, [[maybe_unused]] T y) -> T { return formula; });                 \
    }                                                                                              \
    extern "C" void name##_float64(const double* x, const double* y, const double* got, int64_t n, \
                                   double* errors) {                                               \
        using T = long double;                                                                     \
        compare<double, T>(x, y, got, n, errors,                                                   \
                           [](T x, [[maybe_unused]] T y) -> T { return formula; });                \
    }
#define REFERENCE(name, formula) REFERENCE_BY(double, name, formula)

REFERENCE(exp, std::exp(x))
REFERENCE(exp2, std::exp2(x))
REFERENCE(expm1, std::expm1(x))
REFERENCE(sigmoid, sigmoid(x))
REFERENCE(silu, x < -11000 ? T(-0.0) : x * sigmoid(x))
REFERENCE(log, std::log(x))
REFERENCE(log2, std::log2(x))
REFERENCE(log10, std::log10(x))
REFERENCE(log1p, std::log1p(x))
REFERENCE(softplus, std::fmax(x, T(0)) + std::log1p(std::exp(-std::fabs(x))))
REFERENCE(tanh, std::tanh(x))
REFERENCE(sinh, std::sinh(x))
REFERENCE(cosh, std::cosh(x))
REFERENCE(arcsinh, std::asinh(x))
REFERENCE(arccosh, std::acosh(x))
REFERENCE(arctanh, std::atanh(x))
REFERENCE(erf, std::erf(x))
REFERENCE(erfc, std::erfc(x))
REFERENCE(sin, std::sin(x))
REFERENCE(cos, std::cos(x))
REFERENCE(tan, std::tan(x))
REFERENCE(arcsin, std::asin(x))
REFERENCE(arccos, std::acos(x))
REFERENCE(arctan, std::atan(x))
REFERENCE(cbrt, std::cbrt(x))
REFERENCE(lgamma, std::lgamma(x))
REFERENCE(ndtri, normal_quantile(x))
REFERENCE(power, std::pow(x, y))
REFERENCE(arctan2, std::atan2(x, y))
REFERENCE(hypot, std::hypot(x, y))
REFERENCE_BY(long double, logaddexp, log_of_sum(x, y))
REFERENCE_BY(long double, logaddexp2, log2_of_sum(x, y))

namespace {

template <class T>
T gelu(T x) {
    return std::isinf(x) ? (x > 0 ? x : T(-0.0)) : x / 2 * std::erfc(-x / std::sqrt(T(2)));
}

}  // namespace

// In float32 the results of negative arguments have the error of a number near -1/4.
extern "C" void gelu_float32(const float* x, const float*, const float* got, int64_t n,
                             double* errors) {
    for (int64_t i = 0; i < n; ++i)
        errors[i] = error_in_ulp(got[i], gelu(double(x[i])), x[i] < 0 ? 0.25 : 0.0);
}
extern "C" void gelu_float64(const double* x, const double* y, const double* got, int64_t n,
                             double* errors) {
    using T = long double;
    compare<double, T>(x, y, got, n, errors, [](T x, T) -> T { return gelu(x); });
}
