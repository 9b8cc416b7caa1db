// The generators of 64-bit words: PCG64, PCG64DXSM, SFC64, Philox.
#include "composit/numpy/random/bit_generator.h"

#include "composit/base/error.h"

#include <algorithm>
#include <bit>

namespace composit::numpy::random {
namespace {

using Locked = std::lock_guard<BitGenerator>;

constexpr uint128 wide(uint64_t upper, uint64_t lower) { return uint128{upper} << 64 | lower; }
constexpr uint64_t upper(uint128 value) { return static_cast<uint64_t>(value >> 64); }
constexpr uint64_t lower(uint128 value) { return static_cast<uint64_t>(value); }

constexpr uint128 xsl_rr_multiplier = wide(2549297995355413924u, 4865540595714422341u);
constexpr uint64_t dxsm_multiplier = 0xda942042e4dd58b5u;

void step(Pcg::State& s) { s.state = s.state * s.multiplier + s.increment; }

struct XslRr {
    static uint64_t next(Pcg::State& s) {
        step(s);
        return std::rotr(upper(s.state) ^ lower(s.state), static_cast<int>(s.state >> 122));
    }
};

// The word is made of the state before the step, which need not be waited for.
struct Dxsm {
    static uint64_t next(Pcg::State& s) {
        uint64_t high = upper(s.state);
        const uint64_t low = lower(s.state) | 1;
        step(s);
        high ^= high >> 32;
        high *= dxsm_multiplier;
        high ^= high >> 48;
        return high * low;
    }
};

struct Sfc {
    static uint64_t next(SFC64::State& state) {
        auto& s = state.words;
        const uint64_t word = s[0] + s[1] + s[3]++;
        s[0] = s[1] ^ (s[1] >> 11);
        s[1] = s[2] + (s[2] << 3);
        s[2] = std::rotl(s[2], 24) + word;
        return word;
    }
};

struct Philox10 {
    static uint64_t next(Philox::State& s) {
        if (s.used < 4) return s.block[s.used++];
        for (uint64_t& word : s.counter)
            if (++word != 0) break;
        auto c = s.counter;
        auto k = s.key;
        for (int round = 0; round < 10; ++round) {
            if (round > 0) k[0] += 0x9e3779b97f4a7c15u, k[1] += 0xbb67ae8584caa73bu;
            const uint128 p = uint128{0xd2e7470ee14c6c93u} * c[0];
            const uint128 q = uint128{0xca5a826395121157u} * c[2];
            c = {upper(q) ^ c[1] ^ k[0], lower(q), upper(p) ^ c[3] ^ k[1], lower(p)};
        }
        s.block = c;
        s.used = 1;
        return c[0];
    }
};

// All four functions from the one that gives 64 bits.
template <class Rule, class State>
Bits bits_of(State* state) {
    return {state, [](void* s) { return Rule::next(*static_cast<State*>(s)); },
            [](void* pointer) -> uint32_t {
                State& s = *static_cast<State*>(pointer);
                if (s.half.is_kept) {
                    s.half.is_kept = false;
                    return s.half.value;
                }
                const uint64_t word = Rule::next(s);
                s.half = {true, static_cast<uint32_t>(word >> 32)};
                return static_cast<uint32_t>(word);
            },
            [](void* s) {
                const uint64_t word = Rule::next(*static_cast<State*>(s));
                return static_cast<double>(word >> 11) * (1.0 / 9007199254740992.0);
            },
            [](void* s) { return Rule::next(*static_cast<State*>(s)); }};
}

void check_words(const std::vector<uint64_t>& words, size_t count) {
    user_check(words.size() == count, "set_state: the state has ", words.size(), " words. ", count,
               " are required.");
}

Half half_of(const std::vector<uint64_t>& words) {
    return {words[words.size() - 2] != 0, static_cast<uint32_t>(words.back())};
}

}  // namespace

// ----- PCG

void Pcg::seed(const std::vector<uint64_t>& words) {
    check_words(words, 4);
    state_.multiplier = xsl_rr_multiplier;
    state_.increment = wide(words[2], words[3]) << 1 | 1;
    state_.state = 0;
    step(state_);
    state_.state += wide(words[0], words[1]);
    step(state_);
}

std::vector<uint64_t> Pcg::state() const {
    const Locked locked(const_cast<Pcg&>(*this));
    const State& s = state_;
    return {upper(s.state),     lower(s.state), upper(s.increment),
            lower(s.increment), s.half.is_kept, s.half.value};
}

void Pcg::set_state(const std::vector<uint64_t>& words) {
    check_words(words, 6);
    const Locked locked(*this);
    state_.state = wide(words[0], words[1]);
    state_.increment = wide(words[2], words[3]);
    state_.half = half_of(words);
}

// F. Brown, "Random number generation with arbitrary strides" (1994): powers of the affine map.
void Pcg::advance(uint128 steps) {
    const Locked locked(*this);
    uint128 factor = 1, sum = 0, step_factor = state_.multiplier, step_sum = state_.increment;
    for (; steps > 0; steps >>= 1) {
        if (steps & 1) {
            factor *= step_factor;
            sum = sum * step_factor + step_sum;
        }
        step_sum *= step_factor + 1;
        step_factor *= step_factor;
    }
    state_.state = state_.state * factor + sum;
    state_.half = {};
}

void Pcg::jump(uint128 times) { advance(wide(0x9e3779b97f4a7c15u, 0xf39cc0605cedc835u) * times); }

PCG64::PCG64(const std::vector<uint64_t>& words) {
    bits_ = bits_of<XslRr>(&state_);
    seed(words);
}

PCG64DXSM::PCG64DXSM(const std::vector<uint64_t>& words) {
    bits_ = bits_of<Dxsm>(&state_);
    seed(words);  // by the steps of the other, as NumPy seeds it
    state_.multiplier = dxsm_multiplier;
}

// ----- SFC64

SFC64::SFC64(const std::vector<uint64_t>& words) {
    check_words(words, 3);
    bits_ = bits_of<Sfc>(&state_);
    state_.words = {words[0], words[1], words[2], 1};
    for (int i = 0; i < 12; ++i) static_cast<void>(Sfc::next(state_));
}

std::vector<uint64_t> SFC64::state() const {
    const Locked locked(const_cast<SFC64&>(*this));
    const auto& s = state_.words;
    return {s[0], s[1], s[2], s[3], state_.half.is_kept, state_.half.value};
}

void SFC64::set_state(const std::vector<uint64_t>& words) {
    check_words(words, 6);
    const Locked locked(*this);
    std::copy_n(words.begin(), 4, state_.words.begin());
    state_.half = half_of(words);
}

// ----- Philox

Philox::Philox(const std::vector<uint64_t>& counter, const std::vector<uint64_t>& key) {
    user_check(counter.size() == 4 && key.size() == 2, "Philox: counter has ", counter.size(),
               " words, key has ", key.size(), ". 4 and 2 are required.");
    bits_ = bits_of<Philox10>(&state_);
    std::copy_n(counter.begin(), 4, state_.counter.begin());
    std::copy_n(key.begin(), 2, state_.key.begin());
}

std::vector<uint64_t> Philox::state() const {
    const Locked locked(const_cast<Philox&>(*this));
    std::vector<uint64_t> words(state_.counter.begin(), state_.counter.end());
    words.insert(words.end(), state_.key.begin(), state_.key.end());
    words.insert(words.end(), state_.block.begin(), state_.block.end());
    words.insert(words.end(), {state_.used, state_.half.is_kept, state_.half.value});
    return words;
}

void Philox::set_state(const std::vector<uint64_t>& words) {
    check_words(words, 13);
    user_check(words[10] <= 4, "set_state: the position in the block is ", words[10],
               ". 0 to 4 is required.");
    const Locked locked(*this);
    std::copy_n(words.begin(), 4, state_.counter.begin());
    std::copy_n(words.begin() + 4, 2, state_.key.begin());
    std::copy_n(words.begin() + 6, 4, state_.block.begin());
    state_.used = words[10];
    state_.half = half_of(words);
}

void Philox::advance(const std::array<uint64_t, 4>& blocks) {
    const Locked locked(*this);
    uint128 carry = 0;
    for (size_t i = 0; i < 4; ++i) {
        carry += uint128{state_.counter[i]} + blocks[i];
        state_.counter[i] = lower(carry);
        carry >>= 64;
    }
    state_.block = {};
    state_.used = 4;
    state_.half = {};
}

}  // namespace composit::numpy::random
