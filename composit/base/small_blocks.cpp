#include "composit/base/small_blocks.h"

#include <sys/mman.h>

#include <array>
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

}  // namespace composit

#else

namespace composit {
namespace {

constexpr size_t slab_bytes = size_t{1} << 16, slabs_of_chunk = 32, header_bytes = 64;
// Of slabs that nothing is in, whose pages the process keeps.
constexpr size_t most_idle_slabs = (size_t{16} << 20) / slab_bytes;
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

struct Block {
    Block* next;
};

// At the start of its memory, which is aligned to its size.
struct Slab {
    Slab *next = nullptr, *previous = nullptr;  // among those of its class with free blocks
    Block* free = nullptr;
    uint32_t used = 0, touched = 0;  // blocks: that are out, and that ever were
    uint32_t capacity = 0;
    bool is_listed = false;

    std::byte* block(uint32_t number, size_t bytes) {
        return reinterpret_cast<std::byte*>(this) + header_bytes + number * bytes;
    }
};
static_assert(sizeof(Slab) <= header_bytes);

Slab& slab_of(Block* block) {
    return *reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(block) & ~(slab_bytes - 1));
}

// Slabs that nothing is in.
class IdleSlabs {
  public:
    Slab* take() {
        const std::lock_guard lock(mutex);
        if (!first_) map_chunk();
        Slab* const slab = first_;
        first_ = slab->next;
        --count_;
        return new (slab) Slab;
    }

    void put(Slab* slab) {
        const std::lock_guard lock(mutex);
        if (count_ >= most_idle_slabs) madvise(slab, slab_bytes, MADV_DONTNEED);
        slab->next = std::exchange(first_, slab);
        ++count_;
    }

    std::mutex mutex;

  private:
    void map_chunk() {
        constexpr size_t bytes = slab_bytes * slabs_of_chunk;
        void* const memory = mmap(nullptr, bytes + slab_bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        const auto begin = reinterpret_cast<uintptr_t>(memory);
        const uintptr_t aligned = (begin + slab_bytes - 1) & ~(slab_bytes - 1);
        for (size_t i = slabs_of_chunk; i-- > 0;) {
            auto* const slab = new (reinterpret_cast<void*>(aligned + i * slab_bytes)) Slab;
            slab->next = std::exchange(first_, slab);
        }
        count_ += slabs_of_chunk;
    }

    Slab* first_ = nullptr;
    size_t count_ = 0;
};

IdleSlabs& idle() {
    static auto& slabs = *new IdleSlabs;
    return slabs;
}

// The slabs of one size of blocks.
class SizeClass {
  public:
    // A list of up to `batch` blocks; at least one.
    Block* take(size_t bytes, uint32_t& count) {
        const std::lock_guard lock(mutex);
        if (!first_) {
            Slab* const slab = idle().take();
            slab->capacity = static_cast<uint32_t>((slab_bytes - header_bytes) / bytes);
            append(*slab);
        }
        Slab& slab = *first_;
        Block* list = nullptr;
        Block** end = &list;
        for (count = 0; count < batch; ++count) {
            Block* block = slab.free;
            if (block)
                slab.free = block->next;
            else if (slab.touched < slab.capacity)
                block = reinterpret_cast<Block*>(slab.block(slab.touched++, bytes));
            else
                break;
            ++slab.used;
            *end = block;
            end = &block->next;
        }
        *end = nullptr;
        if (slab.used == slab.capacity) unlink(slab);
        return list;
    }

    void give(Block* list) noexcept {
        const std::lock_guard lock(mutex);
        while (Block* const block = list) {
            list = block->next;
            Slab& slab = slab_of(block);
            block->next = std::exchange(slab.free, block);
            --slab.used;
            if (slab.used == 0 && first_ != &slab) {
                if (slab.is_listed) unlink(slab);
                idle().put(&slab);
            } else if (!slab.is_listed && slab.used <= slab.capacity - slab.capacity / 4) {
                append(slab);  // of fewer free blocks not many would lie together
            }
        }
    }

    std::mutex mutex;

  private:
    void append(Slab& slab) {
        slab.is_listed = true;
        slab.next = nullptr;
        slab.previous = last_;
        (last_ ? last_->next : first_) = &slab;
        last_ = &slab;
    }

    void unlink(Slab& slab) {
        slab.is_listed = false;
        (slab.previous ? slab.previous->next : first_) = slab.next;
        (slab.next ? slab.next->previous : last_) = slab.previous;
    }

    Slab *first_ = nullptr, *last_ = nullptr;
};

using SizeClasses = std::array<SizeClass, classes>;

// A child of fork() has the thread that called it alone: no other may hold a lock then.
void each_mutex(void (std::mutex::*what)());

SizeClasses& all() {
    static auto& made = []() -> SizeClasses& {
        auto& made = *new SizeClasses;
        idle();
        pthread_atfork([] { each_mutex(&std::mutex::lock); },
                       [] { each_mutex(&std::mutex::unlock); },
                       [] { each_mutex(&std::mutex::unlock); });
        return made;
    }();
    return made;
}

void each_mutex(void (std::mutex::*what)()) {
    for (SizeClass& size : all()) (size.mutex.*what)();
    (idle().mutex.*what)();
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
        for (size_t i = 0; i < classes; ++i) all()[i].give(std::exchange(lists[i].first, nullptr));
    }
};
thread_local AtEnd at_end;

}  // namespace

void* allocate_small_block(size_t bytes) {
    const size_t number = class_of(bytes);
    List& list = lists[number];
    if (!list.first) {
        at_end.is_there = true;  // its destructor is to be called
        list.first = all()[number].take(bytes_of_class(number), list.count);
    }
    --list.count;
    return std::exchange(list.first, list.first->next);
}

void free_small_block(void* memory, size_t bytes) noexcept {
    const size_t number = class_of(bytes);
    auto* const block = static_cast<Block*>(memory);
    if (has_ended) {
        block->next = nullptr;
        return all()[number].give(block);
    }
    List& list = lists[number];
    block->next = std::exchange(list.first, block);
    if (++list.count < 2 * batch) return;
    // The older half goes back.
    Block* last = list.first;
    for (uint32_t i = 1; i < batch; ++i) last = last->next;
    all()[number].give(std::exchange(last->next, nullptr));
    list.count = batch;
}

}  // namespace composit

#endif
