// Traces: functions that are called with placeholders, to learn what they do.
#pragma once

#include <cstdint>

namespace composit::ir {

// While a function is traced in this thread. What it writes into places that were there before
// would leave placeholders behind: cells refuse that (eager/cell.h).
class TraceScope {
  public:
    TraceScope();
    ~TraceScope();
    TraceScope(const TraceScope&) = delete;
    TraceScope& operator=(const TraceScope&) = delete;

    // The time (next_time) at which the innermost trace of this thread began; 0: there is none.
    static uint64_t begin();

  private:
    uint64_t around_;
};

}  // namespace composit::ir
