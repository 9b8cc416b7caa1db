// The Mersenne twister: its words, RandomState's seeds.
#include "composit/base/error.h"
#include "composit/numpy/random/bit_generator.h"
#include "composit/numpy/random/mt19937_jump.h"

#include <algorithm>

namespace composit::numpy::random {
namespace {

using Locked = std::lock_guard<BitGenerator>;

constexpr size_t words = 624, distance = 397;

uint32_t twisted(uint32_t word, uint32_t next) {
    const uint32_t y = (word & 0x80000000u) | (next & 0x7fffffffu);
    return (y >> 1) ^ (-(y & 1) & 0x9908b0dfu);
}

// All at once: the compiler makes vectors of it.
void temper(MT19937::State& state) {
    for (size_t i = 0; i < words; ++i) {
        uint32_t y = state.key[i];
        y ^= y >> 11;
        y ^= (y << 7) & 0x9d2c5680u;
        y ^= (y << 15) & 0xefc60000u;
        state.tempered[i] = y ^ (y >> 18);
    }
}

// Seldom called, and not to be made part of what is called often.
[[gnu::noinline]] void refill(MT19937::State& state) {
    auto& s = state.key;
    size_t i = 0;
    for (; i < words - distance; ++i) s[i] = s[i + distance] ^ twisted(s[i], s[i + 1]);
    for (; i < words - 1; ++i) s[i] = s[i + distance - words] ^ twisted(s[i], s[i + 1]);
    s[i] = s[distance - 1] ^ twisted(s[i], s[0]);
    state.position = 0;
    temper(state);
}

uint32_t next(void* pointer) {
    auto& state = *static_cast<MT19937::State*>(pointer);
    if (state.position >= words) [[unlikely]]
        refill(state);
    return state.tempered[state.position++];
}

uint64_t next_pair(void* state) {
    const uint64_t high = next(state);
    return high << 32 | next(state);
}

double next_double(void* state) {  // 53 bits
    const uint32_t high = next(state) >> 5, low = next(state) >> 6;
    return (high * 67108864.0 + low) / 9007199254740992.0;
}

}  // namespace

MT19937::MT19937(const std::vector<uint32_t>& key) {
    user_check(key.size() == words, "MT19937: the seed has ", key.size(), " words. ", words,
               " are required.");
    bits_ = {&state_, next_pair, next, next_double, [](void* s) -> uint64_t { return next(s); }};
    std::copy(key.begin(), key.end(), state_.key.begin());
    state_.key[0] = 0x80000000u;  // never all zeros
    state_.position = words - 1;
    temper(state_);
}

void MT19937::seed(uint32_t number) {
    const Locked locked(*this);
    for (size_t i = 0; i < words; ++i) {
        state_.key[i] = number;
        number = 1812433253u * (number ^ (number >> 30)) + static_cast<uint32_t>(i) + 1;
    }
    state_.position = words;
}

void MT19937::seed(const std::vector<uint32_t>& key) {
    user_check(!key.empty(), "seed: Seed must be non-empty.");
    const Locked locked(*this);
    seed(19650218u);
    auto& s = state_.key;
    size_t i = 1, j = 0;
    const auto previous = [&] { return s[i - 1] ^ (s[i - 1] >> 30); };
    const auto advance = [&] {
        if (++i < words) return;
        s[0] = s[words - 1];
        i = 1;
    };
    for (size_t k = std::max(words, key.size()); k > 0; --k) {
        s[i] = (s[i] ^ (previous() * 1664525u)) + key[j] + static_cast<uint32_t>(j);
        advance();
        if (++j == key.size()) j = 0;
    }
    for (size_t k = words - 1; k > 0; --k) {
        s[i] = (s[i] ^ (previous() * 1566083941u)) - static_cast<uint32_t>(i);
        advance();
    }
    s[0] = 0x80000000u;
}

std::vector<uint64_t> MT19937::state() const {
    const Locked locked(const_cast<MT19937&>(*this));
    std::vector<uint64_t> result(state_.key.begin(), state_.key.end());
    result.push_back(state_.position);
    return result;
}

void MT19937::set_state(const std::vector<uint64_t>& state) {
    user_check(state.size() == words + 1, "set_state: the state has ", state.size(), " words. ",
               words + 1, " are required.");
    user_check(state[words] <= words, "set_state: the position is ", state[words], ". 0 to ", words,
               " is required.");
    const Locked locked(*this);
    for (size_t i = 0; i < words; ++i) state_.key[i] = static_cast<uint32_t>(state[i]);
    state_.position = state[words];
    temper(state_);
}

// Horner's rule for the polynomial of mt19937_jump.h in the map from one state to the next: of a
// window of the sequence that moves by one word, where words of two windows are added by place.
void MT19937::jump(uint64_t times) {
    const Locked locked(*this);
    for (; times > 0; --times) {
        const size_t start = state_.position % words;
        State sum;
        sum.key = state_.key;
        size_t at = start;
        const auto move = [&] {
            sum.key[at] =
                sum.key[(at + distance) % words] ^ twisted(sum.key[at], sum.key[(at + 1) % words]);
            at = (at + 1) % words;
        };
        int power = 19936;
        while (!has_jump_power(power)) --power;
        for (move(); --power > 0; move()) {
            if (!has_jump_power(power)) continue;
            for (size_t i = 0; i < words; ++i)
                sum.key[(at + i) % words] ^= state_.key[(start + i) % words];
        }
        if (has_jump_power(0))
            for (size_t i = 0; i < words; ++i)
                sum.key[(at + i) % words] ^= state_.key[(start + i) % words];
        state_.key = sum.key;
        state_.position = at;
    }
    temper(state_);
}

}  // namespace composit::numpy::random
