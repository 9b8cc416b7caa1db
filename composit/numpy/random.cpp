// MT19937 and NumPy's legacy distributions.
#include "composit/numpy/random.h"

#include "composit/base/error.h"
#include "composit/numpy/creation.h"

#include <bit>
#include <cmath>
#include <limits>

namespace composit::numpy {
namespace {

constexpr int words = 624, shift_distance = 397;

// A leaf of draws, one call per element in row-major order.
template <class T, class Draw>
Tensor drawn(DType dtype, const Shape& size, const std::string& name, const Draw& draw) {
    for (int64_t length : size)
        user_check(length >= 0, name.substr(0, name.find('(')),
                   ": negative dimensions are not allowed: ", size, ".");
    Array result(dtype, size);
    auto* values = static_cast<T*>(result.mutable_data());
    for (int64_t i = 0; i < result.size(); ++i) values[i] = static_cast<T>(draw());
    return ir::constant(std::move(result), name);
}

}  // namespace

RandomState::RandomState(int64_t seed_value) { seed(seed_value); }
RandomState::RandomState(const std::vector<uint32_t>& key) { seed(key); }

void RandomState::seed(int64_t seed) {
    user_check(seed >= 0 && seed <= std::numeric_limits<uint32_t>::max(),
               "seed: Seed must be between 0 and 2**32 - 1, not ", seed, ".");
    state_ = State();
    auto word = static_cast<uint32_t>(seed);
    for (int i = 0; i < words; ++i) {
        state_.key[static_cast<size_t>(i)] = word;
        word = 1812433253u * (word ^ (word >> 30)) + static_cast<uint32_t>(i) + 1;
    }
}

void RandomState::seed(const std::vector<uint32_t>& key) {
    user_check(!key.empty(), "seed: Seed must be non-empty.");
    seed(19650218);
    auto& s = state_.key;
    size_t i = 1, j = 0;
    const auto previous = [&] { return s[i - 1] ^ (s[i - 1] >> 30); };
    const auto advance = [&] {
        if (++i < words) return;
        s[0] = s[words - 1];
        i = 1;
    };
    for (size_t k = std::max<size_t>(words, key.size()); k > 0; --k) {
        s[i] = (s[i] ^ (previous() * 1664525u)) + key[j] + static_cast<uint32_t>(j);
        advance();
        if (++j == key.size()) j = 0;
    }
    for (int k = words - 1; k > 0; --k) {
        s[i] = (s[i] ^ (previous() * 1566083941u)) - static_cast<uint32_t>(i);
        advance();
    }
    s[0] = 0x80000000u;
}

void RandomState::refill() {
    auto& s = state_.key;
    for (size_t i = 0; i < words; ++i) {
        const uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % words] & 0x7fffffffu);
        s[i] = s[(i + shift_distance) % words] ^ (y >> 1) ^ ((y & 1) ? 0x9908b0dfu : 0u);
    }
    state_.position = 0;
}

uint32_t RandomState::next_uint32() {
    if (state_.position >= words) refill();
    uint32_t y = state_.key[static_cast<size_t>(state_.position++)];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

uint64_t RandomState::next_uint64() {
    const uint64_t high = next_uint32();
    return (high << 32) | next_uint32();
}

double RandomState::next_double() {  // 53 bits
    const uint32_t high = next_uint32() >> 5, low = next_uint32() >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

double RandomState::next_gauss() {
    if (state_.has_gauss) {
        state_.has_gauss = false;
        const double kept = state_.gauss;
        state_.gauss = 0;
        return kept;
    }
    double x1, x2, r2;
    do {
        x1 = 2.0 * next_double() - 1.0;
        x2 = 2.0 * next_double() - 1.0;
        r2 = x1 * x1 + x2 * x2;
    } while (r2 >= 1.0 || r2 == 0.0);
    const double f = std::sqrt(-2.0 * std::log(r2) / r2);
    state_.gauss = f * x1;
    state_.has_gauss = true;
    return f * x2;
}

uint32_t RandomState::bounded(uint32_t limit) {
    if (limit == 0) return 0;
    const uint32_t mask = ~uint32_t{0} >> std::countl_zero(limit);
    uint32_t value;
    do value = next_uint32() & mask;
    while (value > limit);
    return value;
}

Tensor RandomState::random(const Shape& size) {
    return drawn<double>(DType::float64, size, text("random(", size, ")"),
                         [this] { return next_double(); });
}

Tensor RandomState::rand(const Shape& size) {
    return drawn<double>(DType::float64, size, text("rand(", join(size), ")"),
                         [this] { return next_double(); });
}

Tensor RandomState::uniform(double low, double high, const Shape& size) {
    user_check<OverflowError>(std::isfinite(high - low),
                              "uniform: high - low range exceeds valid "
                              "bounds: low is ",
                              low, ", high is ", high, ".");
    const std::string name =
        text("uniform(", number_text(low), ", ", number_text(high), ", ", size, ")");
    return drawn<double>(DType::float64, size, name,
                         [&] { return low + (high - low) * next_double(); });
}

Tensor RandomState::standard_normal(const Shape& size) {
    return drawn<double>(DType::float64, size, text("standard_normal(", size, ")"),
                         [this] { return next_gauss(); });
}

Tensor RandomState::randn(const Shape& size) {
    return drawn<double>(DType::float64, size, text("randn(", join(size), ")"),
                         [this] { return next_gauss(); });
}

Tensor RandomState::normal(double mean, double deviation, const Shape& size) {
    user_check(!(deviation < 0) && !std::signbit(deviation), "normal: scale < 0: ", deviation, ".");
    const std::string name =
        text("normal(", number_text(mean), ", ", number_text(deviation), ", ", size, ")");
    return drawn<double>(DType::float64, size, name,
                         [&] { return mean + deviation * next_gauss(); });
}

Tensor RandomState::exponential(double scale, const Shape& size) {
    user_check(!(scale < 0) && !std::signbit(scale), "exponential: scale < 0: ", scale, ".");
    return drawn<double>(DType::float64, size,
                         text("exponential(", number_text(scale), ", ", size, ")"),
                         [&] { return scale * -std::log(1.0 - next_double()); });
}

Tensor RandomState::randint(int64_t low, int64_t high, const Shape& size, DType dtype) {
    const bool is_wide = dtype == DType::int64 || dtype == DType::uint64;
    user_check<NotSupported>(is_wide || dtype == DType::int32 || dtype == DType::uint32,
                             "randint: dtype ", dtype,
                             " is not built yet. Available: int64, uint64, int32, uint32.");
    user_check(low < high, "randint: low >= high: ", low, " and ", high, ".");
    const bool is_unsigned = ir::is_unsigned_integer(dtype);
    const int64_t least = is_unsigned ? 0 : is_wide ? INT64_MIN : INT32_MIN;
    const int64_t greatest = is_wide ? INT64_MAX : is_unsigned ? int64_t{UINT32_MAX} : INT32_MAX;
    user_check(low >= least, "randint: low is out of bounds for ", dtype, ": ", low, ".");
    user_check(high - 1 <= greatest, "randint: high is out of bounds for ", dtype, ": ", high, ".");
    const uint64_t limit = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) - 1;
    const auto draw = [&]() -> uint64_t {
        if (limit <= UINT32_MAX)
            return static_cast<uint64_t>(low) + bounded(static_cast<uint32_t>(limit));
        const uint64_t mask = ~uint64_t{0} >> std::countl_zero(limit);
        uint64_t value;
        do value = next_uint64() & mask;
        while (value > limit);
        return static_cast<uint64_t>(low) + value;
    };
    const std::string name = text("randint(", low, ", ", high, ", ", size,
                                  dtype == DType::int64 ? text() : text(", dtype=", dtype), ")");
    if (is_wide) return drawn<uint64_t>(dtype, size, name, draw);
    return drawn<uint32_t>(dtype, size, name, draw);
}

Tensor RandomState::permutation(int64_t n) {
    user_check(n >= 0 && n <= UINT32_MAX, "permutation: n is ", n, ". 0 to 2**32 - 1 is required.");
    std::vector<int64_t> order(static_cast<size_t>(n));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    for (size_t i = order.size(); i-- > 1;)
        std::swap(order[i], order[bounded(static_cast<uint32_t>(i))]);
    return ir::constant(Array::of(DType::int64, {n}, order), text("permutation(", n, ")"));
}

}  // namespace composit::numpy
