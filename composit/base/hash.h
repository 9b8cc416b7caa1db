// Combining hashes; stable within one version of composit on one kind of machine.
#pragma once

#include <cstdint>
#include <string_view>

namespace composit {

// splitmix64's finaliser (Steele, Lea and Flood 2014): every input bit reaches every output bit.
constexpr uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

constexpr uint64_t hash_combine(uint64_t seed, uint64_t value) { return mix(seed ^ mix(value)); }

// FNV-1a, 64 bits.
constexpr uint64_t hash_text(std::string_view text) {
    uint64_t h = 0xcbf29ce484222325u;
    for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
    return h;
}

}  // namespace composit
