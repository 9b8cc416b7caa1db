// The hash of SeedSequence.
#include "composit/numpy/random/seed_sequence.h"

#include "composit/base/error.h"

namespace composit::numpy::random {
namespace {

// A multiplicative hash whose multiplier changes with each word.
class Hash {
  public:
    Hash(uint32_t start, uint32_t factor) : constant_(start), factor_(factor) {}
    uint32_t operator()(uint32_t value) {
        value ^= constant_;
        constant_ *= factor_;
        value *= constant_;
        return value ^ (value >> 16);
    }

  private:
    uint32_t constant_, factor_;
};

uint32_t mixed(uint32_t x, uint32_t y) {
    const uint32_t result = 0xca01f9ddu * x - 0x4973f715u * y;
    return result ^ (result >> 16);
}

std::vector<uint32_t> words_of(uint64_t number) {
    std::vector<uint32_t> words{static_cast<uint32_t>(number)};
    if (number >> 32) words.push_back(static_cast<uint32_t>(number >> 32));
    return words;
}

}  // namespace

SeedSequence::SeedSequence(uint64_t entropy) : SeedSequence(words_of(entropy)) {}

SeedSequence::SeedSequence(std::vector<uint32_t> entropy, std::vector<uint32_t> spawn_key,
                           int64_t pool_size)
    : entropy_(std::move(entropy)), spawn_key_(std::move(spawn_key)) {
    user_check(pool_size >= 4, "SeedSequence: The size of the entropy pool should be at least 4, ",
               "not ", pool_size, ".");
    const auto size = static_cast<size_t>(pool_size);
    std::vector<uint32_t> words = entropy_;
    // Without this a short entropy with a key would be a longer entropy without one.
    if (!spawn_key_.empty() && words.size() < size) words.resize(size);
    words.insert(words.end(), spawn_key_.begin(), spawn_key_.end());

    Hash hash(0x43b0d7e5u, 0x931e8875u);
    pool_.resize(size);
    for (size_t i = 0; i < size; ++i) pool_[i] = hash(i < words.size() ? words[i] : 0);
    for (size_t from = 0; from < size; ++from)
        for (size_t to = 0; to < size; ++to)
            if (from != to) pool_[to] = mixed(pool_[to], hash(pool_[from]));
    for (size_t from = size; from < words.size(); ++from)
        for (size_t to = 0; to < size; ++to) pool_[to] = mixed(pool_[to], hash(words[from]));
}

std::vector<uint32_t> SeedSequence::generate_state(int64_t words) const {
    user_check(words >= 0, "generate_state: n_words is ", words, ". At least 0 is required.");
    Hash hash(0x8b51f9ddu, 0x58f38dedu);
    std::vector<uint32_t> state(static_cast<size_t>(words));
    for (size_t i = 0; i < state.size(); ++i) state[i] = hash(pool_[i % pool_.size()]);
    return state;
}

std::vector<uint64_t> SeedSequence::generate_state64(int64_t words) const {
    const std::vector<uint32_t> halves = generate_state(words > INT64_MAX / 2 ? -1 : 2 * words);
    std::vector<uint64_t> state(halves.size() / 2);
    for (size_t i = 0; i < state.size(); ++i)
        state[i] = halves[2 * i] | uint64_t{halves[2 * i + 1]} << 32;
    return state;
}

std::vector<SeedSequence> SeedSequence::spawn(int64_t n) {
    user_check(n >= 0, "spawn: n_children must be non-negative, not ", n, ".");
    std::vector<SeedSequence> children;
    for (int64_t i = 0; i < n; ++i) {
        std::vector<uint32_t> key = spawn_key_;
        key.push_back(spawned_++);
        children.emplace_back(entropy_, std::move(key), static_cast<int64_t>(pool_.size()));
    }
    return children;
}

}  // namespace composit::numpy::random
