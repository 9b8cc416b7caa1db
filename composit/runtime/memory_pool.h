// Memory that runs of one program borrow: kept between runs, as much as ran at the same time.
#pragma once

#include "composit/ir/array.h"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace composit::runtime {

class MemoryPool {
  public:
    // Borrowed until its end; 64-byte aligned, contents undefined. Null for no bytes.
    class Block {
      public:
        Block(MemoryPool& pool, int64_t bytes) : pool_(pool), bytes_(bytes) {
            if (bytes > 0) memory_ = pool.take(bytes);
        }
        ~Block() {
            if (memory_) pool_.give_back(bytes_, std::move(memory_));
        }
        Block(const Block&) = delete;
        Block& operator=(const Block&) = delete;
        char* data() const { return static_cast<char*>(memory_.get()); }

      private:
        MemoryPool& pool_;
        int64_t bytes_;
        std::shared_ptr<void> memory_;
    };

    // Of the memory that no run uses now.
    int64_t bytes() {
        std::lock_guard lock(mutex_);
        int64_t sum = 0;
        for (const auto& [bytes, free] : free_) sum += bytes * static_cast<int64_t>(free.size());
        return sum;
    }

  private:
    std::shared_ptr<void> take(int64_t bytes) {
        {
            std::lock_guard lock(mutex_);
            std::vector<std::shared_ptr<void>>& free = free_[bytes];
            if (!free.empty()) {
                std::shared_ptr<void> memory = std::move(free.back());
                free.pop_back();
                return memory;
            }
        }
        return ir::allocate_aligned(bytes);
    }
    void give_back(int64_t bytes, std::shared_ptr<void> memory) {
        std::lock_guard lock(mutex_);
        free_[bytes].push_back(std::move(memory));
    }

    std::mutex mutex_;
    std::map<int64_t, std::vector<std::shared_ptr<void>>> free_;  // by size
};

}  // namespace composit::runtime
