// The fixed text that printed scalar functions rely on.
#include "composit/backends/c_family/scalar_printer.h"

namespace composit::c_family {
namespace {

constexpr std::string_view prelude = R"(// ----- scalar operations with one exact meaning each
#define COMPOSIT_SCALAR static inline __attribute__((always_inline, unused, const))

// The same bits as another type of the same size.
template <class To, class From>
COMPOSIT_SCALAR To bits_as(From x) { return __builtin_bit_cast(To, x); }

// a * b + c with one rounding.
COMPOSIT_SCALAR float multiply_add(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
COMPOSIT_SCALAR double multiply_add(double a, double b, double c) { return __builtin_fma(a, b, c); }

// A product that is not fused with what is added to it: g++ from 12 on does that where it makes
// lanes of a vector of a sum and a difference, whatever -ffp-contract says.
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
COMPOSIT_SCALAR float rounded(float x) { return __builtin_assoc_barrier(x); }
COMPOSIT_SCALAR double rounded(double x) { return __builtin_assoc_barrier(x); }
#else
COMPOSIT_SCALAR float rounded(float x) { return x; }
COMPOSIT_SCALAR double rounded(double x) { return x; }
#endif

// A sum of several terms in one iteration of a loop: g++ before 14 may add some twice where it
// makes lanes of a vector of them (bug 110381).
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
COMPOSIT_SCALAR float in_order(float x) { return __builtin_assoc_barrier(x); }
COMPOSIT_SCALAR double in_order(double x) { return __builtin_assoc_barrier(x); }
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ == 11 && defined(__x86_64__)
COMPOSIT_SCALAR float in_order(float x) { __asm__("" : "+x"(x)); return x; }
COMPOSIT_SCALAR double in_order(double x) { __asm__("" : "+x"(x)); return x; }
#else
COMPOSIT_SCALAR float in_order(float x) { return x; }
COMPOSIT_SCALAR double in_order(double x) { return x; }
#endif

// The float of double(float(x)): g++ leaves out both conversions where it makes lanes of a vector
// of two neighbours, with -O2 alone.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
COMPOSIT_SCALAR float narrowed(float x) { __asm__("" : "+x"(x)); return x; }
#elif defined(__GNUC__) && !defined(__clang__)
COMPOSIT_SCALAR float narrowed(float x) { __asm__("" : "+m"(x)); return x; }
#else
COMPOSIT_SCALAR float narrowed(float x) { return x; }
#endif

COMPOSIT_SCALAR float square_root(float x) { return __builtin_sqrtf(x); }
COMPOSIT_SCALAR double square_root(double x) { return __builtin_sqrt(x); }
COMPOSIT_SCALAR float round_down(float x) { return __builtin_floorf(x); }
COMPOSIT_SCALAR double round_down(double x) { return __builtin_floor(x); }
COMPOSIT_SCALAR float round_up(float x) { return __builtin_ceilf(x); }
COMPOSIT_SCALAR double round_up(double x) { return __builtin_ceil(x); }
COMPOSIT_SCALAR float round_to_even(float x) { return __builtin_rintf(x); }
COMPOSIT_SCALAR double round_to_even(double x) { return __builtin_rint(x); }
COMPOSIT_SCALAR float round_to_zero(float x) { return __builtin_truncf(x); }
COMPOSIT_SCALAR double round_to_zero(double x) { return __builtin_trunc(x); }
COMPOSIT_SCALAR float copy_sign(float x, float sign) { return __builtin_copysignf(x, sign); }
COMPOSIT_SCALAR double copy_sign(double x, double sign) { return __builtin_copysign(x, sign); }
COMPOSIT_SCALAR float float_remainder(float a, float b) { return __builtin_fmodf(a, b); }
COMPOSIT_SCALAR double float_remainder(double a, double b) { return __builtin_fmod(a, b); }

// The least signed integer is its own absolute value.
COMPOSIT_SCALAR float absolute(float x) { return __builtin_fabsf(x); }
COMPOSIT_SCALAR double absolute(double x) { return __builtin_fabs(x); }
COMPOSIT_SCALAR int32_t absolute(int32_t x) { return x < 0 ? int32_t(0u - uint32_t(x)) : x; }
COMPOSIT_SCALAR int64_t absolute(int64_t x) { return x < 0 ? int64_t(0ull - uint64_t(x)) : x; }

// The next float after x on the way to y. Floats count as integers of sign and magnitude do; both
// zeros are 0.
template <class Integer, class Unsigned, class Float>
COMPOSIT_SCALAR Float next_after_bits(Float x, Float y) {
    const Unsigned sign = Unsigned(1) << (8 * sizeof(Integer) - 1);
    const Unsigned bits = bits_as<Unsigned>(x);
    const Unsigned count = (bits & sign) ? sign - bits : bits;
    const Unsigned next = y > x ? count + Unsigned(1) : count - Unsigned(1);
    const Unsigned zero_sign = next == 0 ? bits & sign : Unsigned(0);
    const Unsigned moved = Integer(next) < 0 ? sign - next : (next | zero_sign);
    return x == y ? y : ((x != x) | (y != y)) ? x + y : bits_as<Float>(moved);
}
COMPOSIT_SCALAR float next_after(float x, float y) {
    return next_after_bits<int32_t, uint32_t>(x, y);
}
COMPOSIT_SCALAR double next_after(double x, double y) {
    return next_after_bits<int64_t, uint64_t>(x, y);
}
)";

}  // namespace

std::string_view scalar_prelude() { return prelude; }

}  // namespace composit::c_family
