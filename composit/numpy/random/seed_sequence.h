// numpy.random.SeedSequence: seeds of any size made into well mixed initial states.
#pragma once

#include <cstdint>
#include <vector>

namespace composit::numpy::random {

// M. E. O'Neill's seed_seq: hashes the words of the entropy into a pool, and the pool into as many
// words as a generator needs. Children have other keys and so other states.
//
//   PCG64 bits(SeedSequence(42));
class SeedSequence {
  public:
    // The 32-bit words of the number, lowest first.
    SeedSequence(uint64_t entropy);
    // ValueError: a pool of less than 4 words.
    explicit SeedSequence(std::vector<uint32_t> entropy, std::vector<uint32_t> spawn_key = {},
                          int64_t pool_size = 4);

    [[nodiscard]] std::vector<uint32_t> generate_state(int64_t words) const;
    [[nodiscard]] std::vector<uint64_t> generate_state64(int64_t words) const;
    // The next n children: keys that end with 0, 1, …
    [[nodiscard]] std::vector<SeedSequence> spawn(int64_t n);

    [[nodiscard]] const std::vector<uint32_t>& pool() const { return pool_; }

  private:
    std::vector<uint32_t> entropy_, spawn_key_, pool_;
    uint32_t spawned_ = 0;
};

}  // namespace composit::numpy::random
