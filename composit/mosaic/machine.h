// The machine that programs are mapped to: what its caches hold and how fast its cores are.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <cstdint>
#include <string>

namespace composit::mosaic {

struct Machine {
    int threads = 1;
    int64_t vector_bytes = 16;  // of a register
    int64_t line_bytes = 64, l1_bytes = 32 << 10, l2_bytes = 512 << 10, l3_bytes = 8 << 20;
    // With that many threads, measured: of a matrix product in float32 whose operands lie in the
    // cache, and of a copy of memory (bytes read and written).
    double flops_per_second = 0, bytes_per_second = 0;
    double launch_seconds = 0;  // of a kernel that has nothing to do, measured

    std::string print() const;
};

// This machine, measured once for each back end and number of threads (0: the default): tens of
// milliseconds, and a compilation where the back end compiles.
const Machine& this_machine(const std::string& target = "cpp", int threads = 0);

// The time below which the kernel cannot come: that of its floating-point operations or that of its
// memory traffic, the longer one (Williams et al., Roofline, 2009). Memory that a strided access
// touches counts in whole cache lines when it is more than the level-2 cache holds.
struct Roofline {
    double flops = 0, bytes = 0, seconds = 0;
    bool is_bound_by_memory = false;
};
Roofline roofline(const ir::kernel::Kernel& kernel, const Machine& machine);

}  // namespace composit::mosaic
