// What an executable is made of: one step per kernel, built once, run many times from any thread.
#pragma once

#include "composit/backends/interpreter/chunk.h"
#include "composit/ir/kernel/by_kind.h"
#include "composit/runtime/backend.h"

#include <algorithm>
#include <memory>

namespace composit::interpreter {

// Elements that a kernel works on before Ctrl-C is looked for: a millisecond, or a second of the
// longest bodies.
inline constexpr double elements_between_checks = 1 << 20;

// Splits work over a run's threads. `work` counts elements or operations: little work is not split
// at all, much is split further, into parts between which the run can be interrupted.
template <class Task>
void split(const runtime::Run& run, int64_t count, double work, const Task& task,
           double most_work = elements_between_checks) {
    constexpr double least_work = 32768;  // about what starting a thread costs
    const double wished =
        std::max(std::min<double>(run.threads, work / least_work), work / most_work);
    const auto used = static_cast<int64_t>(std::min(wished, static_cast<double>(count)));
    if (used <= 1) return task(0, count);
    run.parallel_for(used, [&](int64_t i) { task(count * i / used, count * (i + 1) / used); });
}

// Where an access starts.
inline char* start_of(const Memory& memory, const ir::kernel::Access& access) {
    return memory[static_cast<size_t>(access.buffer)] + access.offset * ir::size_of(access.dtype);
}

class Step {
  public:
    virtual ~Step() = default;
    virtual void run(const Memory& memory, const runtime::Run& run) const = 0;
};

using StepRef = std::unique_ptr<const Step>;
using ir::kernel::Program;

// What makes the step of each kind. Each throws NotSupported when the set lacks a kernel, and
// returns null where there is nothing to do. The kernel must live as long as the step; `set` lives
// forever.
using Steps = ir::kernel::ByKind<StepRef, const Program&, const KernelSet&>;
Steps& steps();
// NotSupported also for kinds that are not run, of which other kernels say the same.
StepRef make_step(const ir::kernel::Body& body, const Program& program, const KernelSet& set);

}  // namespace composit::interpreter
