// The sources of random bits: PCG64, PCG64DXSM, MT19937, Philox and SFC64, with NumPy's streams.
#pragma once

#include "composit/numpy/random/bits.h"
#include "composit/numpy/random/seed_sequence.h"

#include <array>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace composit::numpy::random {

__extension__ using uint128 = unsigned __int128;

// A stream of bits with a state. Who draws holds its lock (std::lock_guard), as Generator does: one
// may be used by many threads.
class BitGenerator {
  public:
    BitGenerator() = default;
    BitGenerator(const BitGenerator&) = delete;
    BitGenerator& operator=(const BitGenerator&) = delete;
    virtual ~BitGenerator() = default;

    [[nodiscard]] const Bits& bits() const { return bits_; }
    // The state as words, in the order of NumPy's dictionary.
    [[nodiscard]] virtual std::vector<uint64_t> state() const = 0;
    // ValueError: another number of words.
    virtual void set_state(const std::vector<uint64_t>& words) = 0;

    virtual void lock() { mutex_.lock(); }
    virtual bool try_lock() { return mutex_.try_lock(); }
    virtual void unlock() { mutex_.unlock(); }

  protected:
    Bits bits_;

  private:
    std::recursive_mutex mutex_;
};

// A word of 64 bits is kept in part when 32 were asked for.
struct Half {
    bool is_kept = false;
    uint32_t value = 0;
};

// O'Neill's 128-bit congruential generators. state(): state, increment (each the upper word first),
// whether half a word is kept, and that half.
class Pcg : public BitGenerator {
  public:
    [[nodiscard]] std::vector<uint64_t> state() const override;
    void set_state(const std::vector<uint64_t>& words) override;
    // As if this many words had been drawn, at once.
    void advance(uint128 steps);
    void jump(uint128 times = 1);  // by 2^128 / golden ratio words each

    struct State {
        uint128 state = 0, increment = 0, multiplier = 0;
        Half half;
    };

  protected:
    void seed(const std::vector<uint64_t>& words);
    State state_;
};

class PCG64 : public Pcg {  // XSL-RR
  public:
    explicit PCG64(const SeedSequence& seed) : PCG64(seed.generate_state64(4)) {}
    explicit PCG64(const std::vector<uint64_t>& words);  // 4 of them
};

class PCG64DXSM : public Pcg {
  public:
    explicit PCG64DXSM(const SeedSequence& seed) : PCG64DXSM(seed.generate_state64(4)) {}
    explicit PCG64DXSM(const std::vector<uint64_t>& words);  // 4 of them
};

// Doty-Humphrey's small fast chaotic generator. state(): 4 words, half.
class SFC64 : public BitGenerator {
  public:
    explicit SFC64(const SeedSequence& seed) : SFC64(seed.generate_state64(3)) {}
    explicit SFC64(const std::vector<uint64_t>& words);  // 3 of them
    [[nodiscard]] std::vector<uint64_t> state() const override;
    void set_state(const std::vector<uint64_t>& words) override;

    struct State {
        std::array<uint64_t, 4> words{};
        Half half;
    };

  private:
    State state_;
};

// Salmon, Moraes, Dror and Shaw's counter-based Philox4x64-10. state(): counter (4 words), key (2),
// the last block (4), how much of it is used, half.
class Philox : public BitGenerator {
  public:
    explicit Philox(const SeedSequence& seed) : Philox({0, 0, 0, 0}, seed.generate_state64(2)) {}
    Philox(const std::vector<uint64_t>& counter, const std::vector<uint64_t>& key);
    [[nodiscard]] std::vector<uint64_t> state() const override;
    void set_state(const std::vector<uint64_t>& words) override;
    void advance(const std::array<uint64_t, 4>& blocks);  // lowest word first
    void jump(uint64_t times = 1) { advance({0, 0, times, 0}); }

    struct State {
        std::array<uint64_t, 4> counter{};
        std::array<uint64_t, 2> key{};
        std::array<uint64_t, 4> block{};
        uint64_t used = 4;
        Half half;
    };

  private:
    State state_;
};

// Matsumoto and Nishimura's Mersenne twister. state(): 624 words and the position.
class MT19937 : public BitGenerator {
  public:
    explicit MT19937(const SeedSequence& seed) : MT19937(seed.generate_state(624)) {}
    explicit MT19937(const std::vector<uint32_t>& words);  // 624 of them
    // RandomState's ways: one number, or init_by_array of several. ValueError: none.
    void seed(uint32_t number);
    void seed(const std::vector<uint32_t>& key);
    [[nodiscard]] std::vector<uint64_t> state() const override;
    void set_state(const std::vector<uint64_t>& words) override;
    void jump(uint64_t times = 1);  // by 2^128 words each

    struct State {
        std::array<uint32_t, 624> key{};
        std::array<uint32_t, 624> tempered{};  // the words that are given, of key
        size_t position = 624;
    };

  private:
    State state_;
};

}  // namespace composit::numpy::random
