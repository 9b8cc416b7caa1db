// Traces: functions that are called with placeholders, to learn what they do.
#pragma once

#include "composit/ir/node.h"

#include <cstdint>
#include <vector>

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

// While a function of these tensors is called in this thread to be differentiated. Values of what
// depends on them are known, but gradients go through none that leaves the graph.
class DifferentiationScope {
  public:
    // The inputs, which live longer.
    explicit DifferentiationScope(const std::vector<Tensor>& inputs);
    ~DifferentiationScope();
    DifferentiationScope(const DifferentiationScope&) = delete;
    DifferentiationScope& operator=(const DifferentiationScope&) = delete;

    // Whether a gradient goes from the tensor to the inputs of one that goes on. Looks at nodes
    // that were made since it began.
    static bool reaches(const Tensor& tensor);
    static bool is_open();  // whether one goes on

  private:
    const std::vector<Tensor>& inputs_;
    const DifferentiationScope* around_;
};

}  // namespace composit::ir
