// A loop of the scalar language over a chunk: its bodies run on the elements that are not finished.
#pragma once

#include "composit/backends/interpreter/body.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace composit::interpreter {

class BodyLoop {
  public:
    // Reads the initial state from `initial`, slots of the body around it; `results` are pairs of a
    // value of the state and the slot that receives it.
    BodyLoop(const ir::scalar::Loop& loop, std::vector<int> initial,
             std::vector<std::pair<int, int>> results, const KernelSet& set);

    void run(char** slots, int64_t n) const;

  private:
    struct Memory;

    Body condition_, steps_;
    std::vector<int64_t> sizes_;  // of elements, by value of the state
    std::vector<int> initial_;
    std::vector<std::pair<int, int>> results_;
    int64_t limit_;
};

}  // namespace composit::interpreter
