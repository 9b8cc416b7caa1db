// The cells whose values nobody has looked at.
#pragma once

#include "composit/eager/cell.h"

#include <mutex>
#include <vector>

namespace composit::eager {

// A list through the cells, which costs no memory and finds each in no time. Used by any thread.
class Pending {
  public:
    // A cell holds something new from now on. One whose value is there, or can never be, is left
    // out.
    void put(const Cell& cell, Tensor tensor);
    void remove(const Cell& cell);
    // What the newest `most` of them hold. None of them stays.
    std::vector<Tensor> take(size_t most);

  private:
    void unlink(const Cell& cell);

    std::mutex mutex_;
    const Cell* newest_ = nullptr;
};

Pending& pending();

}  // namespace composit::eager
