// Slabs: pieces of memory of one size, each of which holds blocks of one size.
//
// A slab is used up before the next one is begun, and one that is empty serves any size of block.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

namespace composit {

template <size_t slab_bytes, size_t most_idle_bytes>
class Slabs {
    static constexpr size_t slabs_of_chunk = 32, header_bytes = 64;

  public:
    struct Block {
        Block* next;
    };

  private:
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

    static Slab& slab_of(Block* block) {
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
            if (count_ >= most_idle_bytes / slab_bytes) madvise(slab, slab_bytes, MADV_DONTNEED);
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

  public:
    static IdleSlabs& idle() {
        static auto& slabs = *new IdleSlabs;
        return slabs;
    }

    // The slabs of one size of blocks.
    class SizeClass {
      public:
        // A list of up to `most` blocks; at least one. std::bad_alloc where memory ends.
        Block* take(size_t bytes, uint32_t& count, uint32_t most) {
            const std::lock_guard lock(mutex);
            if (!first_) {
                Slab* const slab = idle().take();
                slab->capacity = static_cast<uint32_t>((slab_bytes - header_bytes) / bytes);
                append(*slab);
            }
            Slab& slab = *first_;
            Block* list = nullptr;
            Block** end = &list;
            for (count = 0; count < most; ++count) {
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
};

}  // namespace composit
