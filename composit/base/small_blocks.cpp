#include "composit/base/small_blocks.h"

#include "composit/base/slabs.h"

#include <array>
#include <bit>
#include <cstdint>
#include <mutex>
#include <new>
#include <pthread.h>
#include <utility>

// Sanitizers see the C library's blocks only.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

namespace composit {

void* allocate_small_block(size_t bytes) {
    return bytes % 64 == 0 ? ::operator new(bytes, std::align_val_t{64}) : ::operator new(bytes);
}
void free_small_block(void* block, size_t bytes) noexcept {
    bytes % 64 == 0 ? ::operator delete(block, std::align_val_t{64}) : ::operator delete(block);
}
void* allocate_medium_block(size_t bytes) { return ::operator new(bytes, std::align_val_t{64}); }
void free_medium_block(void* block, size_t) noexcept {
    ::operator delete(block, std::align_val_t{64});
}

}  // namespace composit

#else

namespace composit {
namespace {

using SmallSlabs = Slabs<size_t{1} << 16, size_t{16} << 20>;
using MediumSlabs = Slabs<size_t{1} << 20, size_t{16} << 20>;
using Block = SmallSlabs::Block;

// Blocks that a thread takes, or gives back, at a time.
constexpr uint32_t batch = 32;

// Sizes are multiples of 16 bytes up to 256, then of 64.
constexpr size_t classes = 16 + (largest_small_block - 256) / 64;
constexpr size_t class_of(size_t bytes) {
    if (bytes <= 256) return bytes == 0 ? 0 : (bytes - 1) / 16;
    return 16 + (bytes - 257) / 64;
}
constexpr size_t bytes_of_class(size_t number) {
    return number < 16 ? (number + 1) * 16 : 256 + (number - 15) * 64;
}

// Of medium blocks eight sizes from one power of two to the next.
struct MediumClass {
    size_t number, bytes;
};
constexpr MediumClass medium_class_of(size_t bytes) {
    const auto octave = static_cast<size_t>(std::bit_width(bytes - 1) - 1);
    const size_t base = size_t{1} << octave, eighth = base / 8;
    const size_t within = (bytes - base - 1) / eighth;
    return {8 * (octave - std::bit_width(largest_small_block) + 1) + within,
            base + (within + 1) * eighth};
}
constexpr size_t medium_classes = medium_class_of(largest_medium_block).number + 1;
static_assert(medium_class_of(largest_small_block + 1).number == 0);
static_assert(medium_class_of(largest_small_block + 1).bytes % 64 == 0);

struct SizeClasses {
    std::array<SmallSlabs::SizeClass, classes> small;
    std::array<MediumSlabs::SizeClass, medium_classes> medium;
};

// A child of fork() has the thread that called it alone: no other may hold a lock then.
void each_mutex(void (std::mutex::*what)());

SizeClasses& all() {
    static auto& made = []() -> SizeClasses& {
        auto& made = *new SizeClasses;
        SmallSlabs::idle();
        MediumSlabs::idle();
        pthread_atfork([] { each_mutex(&std::mutex::lock); },
                       [] { each_mutex(&std::mutex::unlock); },
                       [] { each_mutex(&std::mutex::unlock); });
        return made;
    }();
    return made;
}

void each_mutex(void (std::mutex::*what)()) {
    for (auto& size : all().small) (size.mutex.*what)();
    for (auto& size : all().medium) (size.mutex.*what)();
    (SmallSlabs::idle().mutex.*what)();
    (MediumSlabs::idle().mutex.*what)();
}

// Free blocks of one thread.
struct List {
    Block* first = nullptr;
    uint32_t count = 0;
};
thread_local std::array<List, classes> lists;
thread_local bool has_ended = false;  // objects that die later give their blocks to all

struct AtEnd {
    bool is_there = true;
    ~AtEnd() {
        has_ended = true;
        for (size_t i = 0; i < classes; ++i)
            all().small[i].give(std::exchange(lists[i].first, nullptr));
    }
};
thread_local AtEnd at_end;

}  // namespace

void* allocate_small_block(size_t bytes) {
    const size_t number = class_of(bytes);
    List& list = lists[number];
    if (!list.first) {
        at_end.is_there = true;  // its destructor is to be called
        list.first = all().small[number].take(bytes_of_class(number), list.count, batch);
    }
    --list.count;
    return std::exchange(list.first, list.first->next);
}

void free_small_block(void* memory, size_t bytes) noexcept {
    const size_t number = class_of(bytes);
    auto* const block = static_cast<Block*>(memory);
    if (has_ended) {
        block->next = nullptr;
        return all().small[number].give(block);
    }
    List& list = lists[number];
    block->next = std::exchange(list.first, block);
    if (++list.count < 2 * batch) return;
    // The older half goes back.
    Block* last = list.first;
    for (uint32_t i = 1; i < batch; ++i) last = last->next;
    all().small[number].give(std::exchange(last->next, nullptr));
    list.count = batch;
}

void* allocate_medium_block(size_t bytes) {
    const MediumClass place = medium_class_of(bytes);
    uint32_t count = 0;
    return all().medium[place.number].take(place.bytes, count, 1);
}

void free_medium_block(void* memory, size_t bytes) noexcept {
    auto* const block = static_cast<MediumSlabs::Block*>(memory);
    block->next = nullptr;
    all().medium[medium_class_of(bytes).number].give(block);
}

}  // namespace composit

#endif
