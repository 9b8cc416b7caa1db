// Addresses for memory that has handles: blocks of OpenCL memory, each in a range of the process's
// addresses that nobody can read or write.
#pragma once

#include "composit/backends/opencl/api.h"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace composit::opencl {

struct Place {
    MemoryId memory = nullptr;
    size_t offset = 0;  // in bytes
};

// Safe in any thread.
class Blocks {
  public:
    // The address of the block of that memory, `bytes` long, which lies in `host` memory if that is
    // given. OutOfMemory of `device` where the process has no such range left.
    void* add(const std::string& device, MemoryId memory, int64_t bytes,
              std::shared_ptr<void> host = nullptr);
    // Forgets the block at `address`; no memory if there is none.
    struct Removed {
        MemoryId memory = nullptr;
        std::shared_ptr<void> host;
    };
    Removed remove(void* address) noexcept;
    // The block that `address` lies in, or is the end of. {} for null. InternalError of `device`
    // for an address that no block has.
    Place find(const std::string& device, const void* address) const;

  private:
    struct Block {
        MemoryId memory;
        size_t bytes, reserved;
        std::shared_ptr<void> host;
    };
    mutable std::mutex mutex_;
    std::map<uintptr_t, Block> blocks_;
};

}  // namespace composit::opencl
