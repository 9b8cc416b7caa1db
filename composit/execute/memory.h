// Whether the memory that a program will take can be had: asked before any of it is allocated, as
// Linux hands out more than there is and kills who uses it.
#pragma once

#include "composit/ir/node.h"
#include "composit/runtime/backend.h"

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace composit::execute {

// Bytes that this process could get now: free ones, files in memory that would be dropped, and
// swap, within a container's limit. INT64_MAX where the system does not say.
int64_t available_memory();

// Of one program; asks until a run of it has come to an end, as it keeps its memory for the next.
class MemoryCheck {
  public:
    // MemoryError with the planned bytes when temporaries and results do not fit. `name`: whose run
    // it is. `executable` may be null.
    void before_run(const std::string& name, const runtime::Executable* executable, int threads,
                    const std::vector<ir::TensorType>& results) const;
    void after_run() const { has_run_.store(true, std::memory_order_relaxed); }
    bool is_wanted() const { return !has_run_.load(std::memory_order_relaxed); }

  private:
    mutable std::atomic<bool> has_run_{false};
};

}  // namespace composit::execute
