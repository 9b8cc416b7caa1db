// The interpreter: the back end that defines what a program means. It runs every kernel with
// compiled vector instructions over chunks, and needs no compiler on the machine.
//
// It registers itself as "interpreter". The instruction set is chosen at load time; the environment
// variable COMPOSIT_ISA (baseline, avx2, avx512) overrides the choice. All of them return the same
// bits.
#pragma once

#include "composit/backends/interpreter/kernel_set.h"
#include "composit/runtime/backend.h"

namespace composit::interpreter {

class InterpreterBackend : public runtime::Backend {
  public:
    InterpreterBackend();  // with kernel_set()
    explicit InterpreterBackend(const KernelSet& set) : set_(&set) {}

    std::string name() const override { return "interpreter"; }
    // Steps cost a little each, so they should do more.
    Target target() const override { return {.part_bytes = 256 << 10, .near_bytes = 4 << 20}; }
    std::optional<std::string> refuses(const ir::kernel::Kernel& kernel,
                                       const ir::kernel::Program& program) const override;
    std::shared_ptr<runtime::Executable> compile(const ir::kernel::Program& program,
                                                 const runtime::CompileOptions& options) override;

  private:
    const KernelSet*
        set_;  // null: kernel_set(), asked for at the first use, where its errors can be seen
};

}  // namespace composit::interpreter
