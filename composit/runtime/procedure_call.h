// Kernels of the kind Call: runs of a procedure, one for each index of a batch.
#pragma once

#include "composit/ir/kernel/kernel.h"
#include "composit/runtime/backend.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace composit::ir::procedure {
class Callable;
}

namespace composit::runtime {

// A kernel, ready to run, wherever its procedure is compiled or interpreted.
class ProcedureCall {
  public:
    explicit ProcedureCall(const ir::kernel::Call& kernel);

    // All runs, on the threads of `run` where they take long enough. Throws what the first of them
    // that fails meets. at[k]: where the buffer of operand k starts, inputs first.
    void run(void* const* at, const Run& run) const;

  private:
    struct Operand {
        int64_t offset;                // in bytes, of the first run
        std::vector<int64_t> steps;    // in bytes, over the batch
        std::vector<int64_t> extents;  // of an array
        std::vector<int64_t> strides;  // in elements, where a copy makes it row-major
        size_t size;                   // of an element, in bytes
        int64_t count;                 // of elements
    };
    class Runner;

    const ir::procedure::Callable& callable_;
    ir::kernel::Extents batch_;
    int64_t runs_;
    std::vector<Operand> inputs_, outputs_;
    std::vector<std::vector<int64_t>> shapes_;  // of input arrays, then of output arrays
    size_t input_arrays_ = 0;
};

}  // namespace composit::runtime
