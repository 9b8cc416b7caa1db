// XXH64 with seed 0 (the xxHash specification, version 0.1.1), by which files of weights are
// checked: `xxhsum -H64` prints the same. It finds damage; it does not keep anyone out.
#pragma once

#include <cstddef>
#include <cstdint>

inline uint64_t rotated_left(uint64_t word, int bits) {
    return (word << bits) | (word >> (64 - bits));
}

template <class Word>
inline uint64_t little_endian_word(const char* bytes) {
    Word word = 0;
    __builtin_memcpy(&word, bytes, sizeof word);
    return word;
}

inline uint64_t xxh64(const char* bytes, std::size_t count) {
    constexpr uint64_t p1 = 0x9e3779b185ebca87u, p2 = 0xc2b2ae3d27d4eb4fu, p3 = 0x165667b19e3779f9u,
                       p4 = 0x85ebca77c2b2ae63u, p5 = 0x27d4eb2f165667c5u;
    const auto round = [](uint64_t lane, uint64_t word) {
        return rotated_left(lane + word * p2, 31) * p1;
    };
    uint64_t hash = p5;
    std::size_t at = 0;
    if (count >= 32) {
        uint64_t lanes[4] = {p1 + p2, p2, 0, 0 - p1};
        for (; at + 32 <= count; at += 32)
            for (int k = 0; k < 4; ++k)
                lanes[k] = round(lanes[k], little_endian_word<uint64_t>(bytes + at + 8 * k));
        hash = rotated_left(lanes[0], 1) + rotated_left(lanes[1], 7) + rotated_left(lanes[2], 12) +
               rotated_left(lanes[3], 18);
        for (const uint64_t lane : lanes) hash = (hash ^ round(0, lane)) * p1 + p4;
    }
    hash += count;
    for (; at + 8 <= count; at += 8) {
        hash ^= round(0, little_endian_word<uint64_t>(bytes + at));
        hash = rotated_left(hash, 27) * p1 + p4;
    }
    for (; at + 4 <= count; at += 4) {
        hash ^= little_endian_word<uint32_t>(bytes + at) * p1;
        hash = rotated_left(hash, 23) * p2 + p3;
    }
    for (; at < count; ++at) {
        hash ^= little_endian_word<unsigned char>(bytes + at) * p5;
        hash = rotated_left(hash, 11) * p1;
    }
    hash = (hash ^ (hash >> 33)) * p2;
    hash = (hash ^ (hash >> 29)) * p3;
    return hash ^ (hash >> 32);
}
