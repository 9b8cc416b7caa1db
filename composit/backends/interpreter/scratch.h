// Working memory of one task: taken piece by piece, given back all at once, kept by the thread for
// the next task.
#pragma once

#include <cstdint>

namespace composit::interpreter {

// What is taken from a scope lives as long as the scope. Scopes of a thread nest.
class ScratchScope {
  public:
    ScratchScope();
    ~ScratchScope();
    ScratchScope(const ScratchScope&) = delete;
    ScratchScope& operator=(const ScratchScope&) = delete;

    char* take(int64_t bytes);  // aligned to 64 bytes, not cleared

  private:
    int64_t block_, used_;  // where the thread's memory stood
};

}  // namespace composit::interpreter
