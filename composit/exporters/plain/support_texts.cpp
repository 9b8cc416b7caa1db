#include "composit/exporters/plain/support_texts.h"

#include <string>
#include <utility>

namespace composit::plain {
namespace {

// g++ leaves out both conversions where it makes lanes of a vector of two neighbours.
constexpr const char* narrowed =
    R"(// The float of (double)(float)x, behind which compilers do not see that it was a double.
static inline float narrowed(float x) {
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
    __asm__("" : "+x"(x));
#elif defined(__GNUC__) && !defined(__clang__)
    __asm__("" : "+m"(x));
#endif
    return x;
}
)";

// ----- what compilers do with neighbours

constexpr const char* rounded_float64 =
    R"(// A product that is not fused with what is added to it.
static inline double rounded_float64(double x) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
    return __builtin_assoc_barrier(x);
#else
    return x;
#endif
}
)";

// GCC's bug 110381.
constexpr const char* in_order_float64 =
    R"(// A sum of several terms in one iteration, of which g++ before 14 may add some twice.
static inline double in_order_float64(double x) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
    return __builtin_assoc_barrier(x);
#elif defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
    __asm__("" : "+x"(x));
    return x;
#else
    return x;
#endif
}
)";

// ----- products and sums with one rounding

constexpr const char* fma_float32 =
    R"(// a * b + c, rounded once; by 12 operations of double where there is no instruction for it.
static inline float fma_float32(float a, float b, float c) {
#if defined(__FP_FAST_FMAF) || defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__riscv_f)
    return __builtin_fmaf(a, b, c);
#else
    const double ab = (double)(a) * (double)(b), sum = ab + (double)(c);
    const double low = (ab - (sum - (sum - ab))) + ((double)(c) - (sum - ab));
    union { double value; uint64_t n; } y = {sum};  // odd unless exact: then rounded once
    if ((low < 0.0 || low > 0.0) && y.n % 2u == 0u) y.n += (low > 0.0) == (sum > 0.0) ? 1u : ~0ull;
    return (float)(y.value);
#endif
}
)";

constexpr const char* fma_float64 =
    R"(// a * b + c, rounded once; by about 100 operations of integers (two halves of 128 bits)
// where there is no instruction for it.
static double fma_float64(double a, double b, double c) {
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__) || defined(__riscv_d)
    return __builtin_fma(a, b, c);
#else
    const uint64_t one = 1ull << 52, top = 1ull << 63;
    uint64_t bits[3], parts[3];
    int exponents[3];
    bits[0] = as_uint64(a);
    bits[1] = as_uint64(b);
    bits[2] = as_uint64(c);
    for (int i = 0; i < 3; ++i) {
        exponents[i] = (int)(bits[i] >> 52) & 2047;
        parts[i] = (bits[i] & (one - 1u)) | (exponents[i] != 0 ? one : 0u);
        // Infinite or NaN; a finite product may not become infinite before an infinity is added.
        if (exponents[i] == 2047) return i == 2 ? c : a * b + c;
        if (exponents[i] == 0) exponents[i] = 1;
        for (; parts[i] != 0u && parts[i] < one; parts[i] <<= 1) --exponents[i];
    }
    if (parts[0] == 0u || parts[1] == 0u) return a * b + c;
    if (parts[2] == 0u) return a * b;
    // The product times 4: two bits below it tell of what is shifted out.
    const uint64_t low_a = parts[0] & 0xffffffffu, high_a = parts[0] >> 32;
    const uint64_t low_b = parts[1] & 0xffffffffu, high_b = parts[1] >> 32;
    const uint64_t cross = high_a * low_b + (low_a * low_b >> 32);
    const uint64_t middle = low_a * high_b + (cross & 0xffffffffu);
    uint64_t low = (middle << 32) | ((low_a * low_b) & 0xffffffffu);
    uint64_t high = high_a * high_b + (cross >> 32) + (middle >> 32);
    high = (high << 2) | (low >> 62);
    low <<= 2;
    int exponent = exponents[0] + exponents[1] - 2152;
    // The addend at the same scale.
    int shift = exponents[2] - 1075 - exponent;
    while (shift > 74) {
        low = (low >> 1) | (high << 63) | (low & 1u);
        high >>= 1;
        const int step = high == 0u && low <= 1u ? shift - 74 : 1;  // the rest is zeros
        exponent += step;
        shift -= step;
    }
    uint64_t low_c = parts[2], high_c = 0u;
    if (shift >= 64) {
        high_c = low_c << (shift - 64);
        low_c = 0u;
    } else if (shift > 0) {
        high_c = low_c >> (64 - shift);
        low_c <<= shift;
    } else if (shift > -64) {
        low_c = (low_c >> -shift) | ((low_c & ((1ull << -shift) - 1u)) != 0u ? 1u : 0u);
    } else {
        low_c = 1u;
    }
    uint64_t sign = (bits[0] ^ bits[1]) & top;
    if (sign == (bits[2] & top)) {
        low += low_c;
        high += high_c + (low < low_c ? 1u : 0u);
    } else {
        if (high < high_c || (high == high_c && low < low_c)) {
            const uint64_t h = high, l = low;
            high = high_c;
            low = low_c;
            high_c = h;
            low_c = l;
            sign ^= top;
        }
        high -= high_c + (low < low_c ? 1u : 0u);
        low -= low_c;
        if (high == 0u && low == 0u) return 0.0;
    }
    // 64 bits from the first one on, and whether there are others.
    exponent += 64;
    if (high == 0u) {
        high = low;
        low = 0u;
        exponent -= 64;
    }
    while (high < top) {
        high = (high << 1) | (low >> 63);
        low <<= 1;
        --exponent;
    }
    high |= low != 0u ? 1u : 0u;
    const int biased = exponent + 63 + 1023;
    if (biased >= 2047) return as_float64(sign | (2047ull << 52));
    int dropped = biased > 0 ? 11 : 12 - biased;
    if (dropped > 66) dropped = 66;
    for (; dropped > 63; --dropped) high = (high >> 1) | (high & 1u);
    uint64_t result = high >> dropped;
    const uint64_t rest = high << (64 - dropped);
    if (rest > top || (rest == top && (result & 1u) != 0u)) ++result;
    if (biased > 0) result += (uint64_t)(biased - 1) << 52;
    return as_float64(sign | result);
#endif
}
)";

// ----- square roots

constexpr const char* sqrt_float64 =
    R"(// By integers where no instruction is known: 54 steps.
static inline double sqrt_float64(double x) {
#if defined(__NO_MATH_ERRNO__) && \
    (defined(__SSE2__) || defined(__aarch64__) || defined(__riscv_d) || __ARM_FP >= 8)
    return __builtin_sqrt(x);
#elif defined(__SSE2__)  // the function would be C's, which sets errno
    __asm__("sqrtsd %1, %0" : "=x"(x) : "x"(x));
    return x;
#elif defined(__aarch64__)
    __asm__("fsqrt %d0, %d1" : "=w"(x) : "w"(x));
    return x;
#else
    uint64_t bits = as_uint64(x), root = 0u, rest = 0u;
    int exponent = (int)(bits >> 52) - 1023;
    if (!(x > 0.0) || exponent == 1024) return x < 0.0 ? __builtin_nan("") : x;
    bits = (bits & ((1ull << 52) - 1u)) | (exponent > -1023 ? 1ull << 52 : 0u);
    if (exponent == -1023) exponent = -1022;
    for (; bits < 1ull << 52; bits <<= 1) --exponent;
    if ((exponent & 1) != 0) bits <<= 1;
    exponent = (exponent - (exponent & 1)) / 2;
    // The root of bits * 2^54, of 54 bits: one more than the result has. Two bits in a step.
    for (int step = 53; step >= 0; --step) {
        rest = (rest << 2) | ((step >= 27 ? bits >> (2 * step - 54) : 0u) & 3u);
        root <<= 1;
        if (rest > 2u * root) {
            rest -= 2u * root + 1u;
            root |= 1u;
        }
    }
    root = (root >> 1) + (root & 1u);
    return as_float64((uint64_t)(exponent + 1023) << 52) * ((double)(root) * 2.220446049250313e-16);
#endif
}
)";

constexpr const char* sqrt_float32 =
    R"(// By integers where no instruction is known: 25 steps.
static inline float sqrt_float32(float x) {
#if defined(__NO_MATH_ERRNO__) && \
    (defined(__SSE2__) || defined(__aarch64__) || defined(__riscv_f) || __ARM_FP >= 4)
    return __builtin_sqrtf(x);
#elif defined(__SSE2__)  // the function would be C's, which sets errno
    __asm__("sqrtss %1, %0" : "=x"(x) : "x"(x));
    return x;
#elif defined(__aarch64__)
    __asm__("fsqrt %s0, %s1" : "=w"(x) : "w"(x));
    return x;
#else
    uint32_t bits = as_uint32(x), root = 0u, rest = 0u;
    int exponent = (int)(bits >> 23) - 127;
    if (!(x > 0.0f) || exponent == 128) return x < 0.0f ? __builtin_nanf("") : x;
    bits = (bits & 0x7fffffu) | (exponent > -127 ? 0x800000u : 0u);
    if (exponent == -127) exponent = -126;
    for (; bits < 0x800000u; bits <<= 1) --exponent;
    if ((exponent & 1) != 0) bits <<= 1;
    exponent = (exponent - (exponent & 1)) / 2;
    // A root of 25 bits: one more than the result has. Two bits of the radicand in a step.
    const uint64_t radicand = (uint64_t)(bits) << 25;
    for (int step = 24; step >= 0; --step) {
        rest = (rest << 2) | ((uint32_t)(radicand >> (2 * step)) & 3u);
        root <<= 1;
        if (rest > 2u * root) {
            rest -= 2u * root + 1u;
            root |= 1u;
        }
    }
    root = (root >> 1) + (root & 1u);
    return as_float32((uint32_t)(exponent + 127) << 23) * ((float)(root) * 1.1920929e-07f);
#endif
}
)";

// ----- texts for float64, which `single` makes those for float32 of

constexpr const char* fabs_float64 =
    R"(static inline double fabs_float64(double x) {
    return as_float64(as_uint64(x) & ~0x8000000000000000ull);
}
)";

constexpr const char* copysign_float64 =
    R"(static inline double copysign_float64(double x, double sign) {
    const uint64_t bit = 0x8000000000000000ull;
    return as_float64((as_uint64(x) & ~bit) | (as_uint64(sign) & bit));
}
)";

// Numbers as large as that one have no fraction.
constexpr const char* trunc_float64 =
    R"(static inline double trunc_float64(double x) {
    if (!(fabs_float64(x) < 4503599627370496.0)) return x;
    return copysign_float64((double)((int64_t)(x)), x);
}
)";

constexpr const char* floor_float64 =
    R"(static inline double floor_float64(double x) {
    const double whole = trunc_float64(x);
    return whole > x ? whole - 1.0 : whole;
}
)";

constexpr const char* ceil_float64 =
    R"(static inline double ceil_float64(double x) {
    const double whole = trunc_float64(x);
    return whole < x ? copysign_float64(whole + 1.0, x) : whole;
}
)";

constexpr const char* rint_float64 =
    R"(// The nearest integer, of two the even one.
static inline double rint_float64(double x) {
    const double large = copysign_float64(4503599627370496.0, x);
    return fabs_float64(x) < 4503599627370496.0 ? copysign_float64((x + large) - large, x) : x;
}
)";

constexpr const char* next_after_float64 =
    R"(// The next number after x on the way to y.
static inline double next_after_float64(double x, double y) {
    if (x != x || y != y) return x + y;
    if (x == y) return y;
    if (x == 0.0) return copysign_float64(as_float64(1u), y);
    return as_float64((x < y) == (x > 0.0) ? as_uint64(x) + 1u : as_uint64(x) - 1u);
}
)";

constexpr const char* fmod_float64 =
    R"(// What is left of a when b is taken from it as often as it fits: exact, long division.
static double fmod_float64(double a, double b) {
    const uint64_t one = 1ull << 52, sign = as_uint64(a) & (1ull << 63);
    uint64_t x = as_uint64(a) ^ sign, y = as_uint64(b) & ((1ull << 63) - 1u);
    if (y == 0u || x >= 2047ull << 52 || y > 2047ull << 52) return (a * b) / (a * b);
    if (x < y) return a;
    int exponent = (int)(x >> 52), least = (int)(y >> 52);
    x = exponent == 0 ? x : (x & (one - 1u)) | one;
    y = least == 0 ? y : (y & (one - 1u)) | one;
    if (exponent == 0) exponent = 1;
    if (least == 0) least = 1;
    for (; exponent > least; --exponent) {
        if (x >= y) x -= y;
        x <<= 1;
    }
    if (x >= y) x -= y;
    if (x == 0u) return as_float64(sign);
    for (; x < one && exponent > 1; --exponent) x <<= 1;
    if (x >= one) x += (uint64_t)(exponent - 1) << 52;
    return as_float64(sign | x);
}
)";

constexpr const char* fmod_float32 =
    R"(static inline float fmod_float32(float a, float b) {
    return (float)(fmod_float64((double)(a), (double)(b)));
}
)";

constexpr const char* absolute_int64 =
    R"(// The least integer is its own absolute value.
static inline int64_t absolute_int64(int64_t x) {
    return x < 0 ? (int64_t)(0ull - (uint64_t)(x)) : x;
}
)";

// ----- reductions, whose order is part of what they mean: docs/semantics.md 4

constexpr const char* of_lanes =
    R"(// Up to 32 lanes become one: those 16 apart, then those 8 apart, and so on.
static double NAME_of_lanes_float64(double* lanes, int count) {
    for (int apart = 16; apart > 0; apart /= 2)
        for (int i = 0; i < apart && i + apart < count; ++i)
            lanes[i] = COMBINED(lanes[i], lanes[i + apart]);
    return lanes[0];
}
)";

constexpr const char* of_blocks =
    R"(// The results of blocks become one: neighbours, then the neighbours of these, and so on.
static double NAME_of_blocks_float64(double* blocks, int count) {
    for (; count > 1; count = (count + 1) / 2)
        for (int i = 0; i < (count + 1) / 2; ++i)
            blocks[i] = 2 * i + 1 == count ? blocks[2 * i]
                                           : COMBINED(blocks[2 * i], blocks[2 * i + 1]);
    return blocks[0];
}
)";

constexpr const char* larger =
    R"(// NaN if one of them is NaN.
static inline double larger_float64(double a, double b) { return b > a || b != b ? b : a; }
)";
constexpr const char* smaller =
    R"(// NaN if one of them is NaN.
static inline double smaller_float64(double a, double b) { return b < a || b != b ? b : a; }
)";

// -----

void replace(std::string& text, const std::string& word, const std::string& by) {
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
        text.replace(at, word.size(), by);
}

std::string single(std::string text) {
    const std::pair<const char*, const char*> words[] = {{"0x8000000000000000ull", "0x80000000u"},
                                                         {"4503599627370496.0", "8388608.0f"},
                                                         {" 0.0", " 0.0f"},
                                                         {" 1.0", " 1.0f"},
                                                         {"float64", "float32"},
                                                         {"double", "float"},
                                                         {"int64", "int32"}};
    for (const auto& [word, by] : words) replace(text, word, by);
    return text;
}

// The text's name for float32 or float64, and the text.
SupportText of(const std::string& name, bool is_single, const char* text) {
    return {name + (is_single ? "_float32" : "_float64"), is_single ? single(text) : text, ""};
}

// The same bits as another type: in C by a union, which C++ does not have for this.
SupportText as(const std::string& name, const std::string& from, const std::string& to) {
    const std::string head = "static " + to + " as_" + name + "(" + from + " x) { ";
    return {"as_" + name,
            head + "union { " + from + " from; " + to + " to; } y = {x}; return y.to; }\n",
            head + to + " y; __builtin_memcpy(&y, &x, sizeof y); return y; }\n"};
}

// COMBINED(a, b) in the text, whose operands have no comma.
std::string combined(std::string text, const std::string& name) {
    replace(text, "NAME", name);
    const std::string mark = "COMBINED(";
    for (size_t at = 0; (at = text.find(mark)) != std::string::npos;) {
        const size_t comma = text.find(", ", at), end = text.find(')', comma);
        const std::string a = text.substr(at + mark.size(), comma - at - mark.size());
        const std::string b = text.substr(comma + 2, end - comma - 2);
        const std::string value = name == "sum"       ? a + " + " + b
                                  : name == "product" ? a + " * " + b
                                  : name == "maximum" ? "larger_float64(" + a + ", " + b + ")"
                                                      : "smaller_float64(" + a + ", " + b + ")";
        text.replace(at, end + 1 - at, value);
    }
    return text;
}

}  // namespace

const std::vector<SupportText>& support_texts() {
    static const std::vector<SupportText>& all = *new std::vector<SupportText>([] {
        std::vector<SupportText> made = {
            as("uint32", "float", "uint32_t"),  as("int32", "float", "int32_t"),
            as("uint64", "double", "uint64_t"), as("int64", "double", "int64_t"),
            as("float32", "uint32_t", "float"), as("float64", "uint64_t", "double"),
            {"narrowed", narrowed, ""},         {"fma_float32", fma_float32, ""},
            {"fma_float64", fma_float64, ""},   {"sqrt_float32", sqrt_float32, ""},
            {"sqrt_float64", sqrt_float64, ""},
        };
        const std::pair<const char*, const char*> of_both[] = {{"rounded", rounded_float64},
                                                               {"in_order", in_order_float64},
                                                               {"fabs", fabs_float64},
                                                               {"copysign", copysign_float64},
                                                               {"trunc", trunc_float64},
                                                               {"floor", floor_float64},
                                                               {"ceil", ceil_float64},
                                                               {"rint", rint_float64},
                                                               {"next_after", next_after_float64},
                                                               {"larger", larger},
                                                               {"smaller", smaller}};
        for (const auto& [name, text] : of_both)
            for (const bool is_single : {true, false}) made.push_back(of(name, is_single, text));
        made.push_back({"fmod_float64", fmod_float64, ""});
        made.push_back({"fmod_float32", fmod_float32, ""});
        made.push_back({"absolute_int32", single(absolute_int64), ""});
        replace(made.back().text, "0ull", "0u");
        made.push_back({"absolute_int64", absolute_int64, ""});
        for (const std::string name : {"sum", "product", "maximum", "minimum"})
            for (const bool is_single : {true, false}) {
                made.push_back(of(name + "_of_lanes", is_single, combined(of_lanes, name).c_str()));
                made.push_back(
                    of(name + "_of_blocks", is_single, combined(of_blocks, name).c_str()));
            }
        return made;
    }());
    return all;
}

}  // namespace composit::plain
