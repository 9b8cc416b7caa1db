#include "composit/base/small_blocks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace composit {
namespace {

struct Held {
    unsigned char* memory;
    size_t bytes;
    unsigned char mark;
};

unsigned char* allocate(size_t bytes) {
    return static_cast<unsigned char*>(bytes <= largest_small_block ? allocate_small_block(bytes)
                                                                    : allocate_medium_block(bytes));
}

void release(const Held& held) {
    if (held.bytes <= largest_small_block)
        free_small_block(held.memory, held.bytes);
    else
        free_medium_block(held.memory, held.bytes);
}

size_t alignment_of(size_t bytes) {
    if (bytes > largest_small_block) return 64;
    return bytes > 0 && bytes % 64 == 0 ? 64 : 16;
}

// Takes and frees blocks of all sizes, each filled with a mark of its own, which it still has when
// it goes. What is left is returned.
std::vector<Held> taken_and_freed(unsigned seed, int steps) {
    std::mt19937 random(seed);
    std::vector<Held> held;
    for (int i = 0; i < steps; ++i) {
        if (held.empty() || random() % 5 < 3) {
            const size_t most = random() % 20 == 0 ? largest_medium_block : largest_small_block;
            const size_t bytes = random() % (most + 1);
            const auto mark = static_cast<unsigned char>(random());
            unsigned char* const memory = allocate(bytes);
            EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment_of(bytes), 0u);
            std::memset(memory, mark, bytes);
            held.push_back({memory, bytes, mark});
        } else {
            std::swap(held[random() % held.size()], held.back());
            const Held gone = held.back();
            held.pop_back();
            for (size_t k = 0; k < gone.bytes; ++k) EXPECT_EQ(gone.memory[k], gone.mark);
            release(gone);
        }
    }
    return held;
}

void free_all(const std::vector<Held>& held) {
    for (const Held& each : held) {
        for (size_t k = 0; k < each.bytes; ++k) ASSERT_EQ(each.memory[k], each.mark);
        release(each);
    }
}

TEST(SmallBlocks, LivingBlocksAreApart) {
    const std::vector<Held> held = taken_and_freed(1, 40'000);
    std::map<uintptr_t, size_t> by_address;
    for (const Held& each : held) by_address[reinterpret_cast<uintptr_t>(each.memory)] = each.bytes;
    EXPECT_EQ(by_address.size(), held.size());
    uintptr_t end = 0;
    for (const auto& [begin, bytes] : by_address) {
        EXPECT_GE(begin, end);
        end = begin + bytes;
    }
    free_all(held);
}

TEST(SmallBlocks, OtherThreadsFreeThem) {
    std::vector<std::vector<Held>> held(4);
    const auto each = [&](auto work) {
        std::vector<std::thread> threads;
        for (size_t i = 0; i < held.size(); ++i) threads.emplace_back(work, i);
        for (std::thread& thread : threads) thread.join();
    };
    for (unsigned round = 0; round < 3; ++round) {
        each(
            [&](size_t i) { held[i] = taken_and_freed(static_cast<unsigned>(i) + round, 20'000); });
        each([&](size_t i) { free_all(held[(i + 1) % held.size()]); });
    }
}

TEST(SmallBlocks, WhatIsFreedIsUsedAgain) {
    constexpr size_t bytes = 192, count = 50'000;
    std::vector<void*> blocks(count);
    const auto fill = [&] {
        uintptr_t low = UINTPTR_MAX, high = 0;
        for (void*& block : blocks) {
            block = allocate_small_block(bytes);
            low = std::min(low, reinterpret_cast<uintptr_t>(block));
            high = std::max(high, reinterpret_cast<uintptr_t>(block));
        }
        return std::pair(low, high);
    };
    fill();
    for (void* block : blocks) free_small_block(block, bytes);
    const auto before = fill();
    // Every other first: then slabs are half empty for a while.
    for (size_t i = 0; i < count; i += 2) free_small_block(blocks[i], bytes);
    for (size_t i = 1; i < count; i += 2) free_small_block(blocks[i], bytes);
    const auto after = fill();
    EXPECT_LE(after.second - after.first, 2 * (before.second - before.first));
    for (void* block : blocks) free_small_block(block, bytes);
}

TEST(SmallBlocks, AChildOfForkHasItsOwn) {
    std::atomic<bool> ends{false};
    std::thread other([&] {
        while (!ends) free_all(taken_and_freed(7, 500));
    });
    for (int i = 0; i < 20; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            free_all(taken_and_freed(static_cast<unsigned>(i), 500));
            _exit(testing::Test::HasFailure() ? 1 : 0);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    ends = true;
    other.join();
}

}  // namespace
}  // namespace composit
