// A program on a device: its functions in the order of launching, and the memory that they need.
#pragma once

#include "composit/backends/simt/fault.h"
#include "composit/backends/simt/machine.h"
#include "composit/backends/simt/program_text.h"
#include "composit/runtime/backend.h"
#include "composit/runtime/device.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace composit::simt {

// Runs are asked for, not waited for, but where an index may be out of bounds: those wait for their
// end, and throw IndexError. Inputs and outputs are addresses on the device. Memory that a run
// needs beside them is given back when all is asked for: what takes it next comes later in the
// queue.
class SimtExecutable : public runtime::Executable {
  public:
    SimtExecutable(std::shared_ptr<Machine> machine, const ir::kernel::Program& program,
                   const std::string& cache_folder);

    void run(const runtime::Run& run) const override;
    std::vector<double> seconds_of_kernels(const runtime::Run& run) const override;
    std::vector<runtime::SourceFile> sources() const override;
    std::string build_command() const override;
    int64_t working_bytes(int threads) const override;

  private:
    struct Running;

    void run_all(const runtime::Run& run, std::vector<double>* seconds) const;
    void run_steps(const std::vector<ProgramStep>& steps, Running& running, bool is_measured) const;
    void launch(const ProgramStep& step, Running& running) const;
    // Work on items with workspaces: as many at a time as there is memory for.
    void launch_over_items(const ProgramStep& step, const PrintedLaunch& printed, Launch launch,
                           Running& running) const;
    void report_fault(const Running& running) const;
    void report_fault(const FaultRecord& record, const Running& running) const;
    void report_failed_item(const ir::kernel::Call& call, const FaultRecord& record,
                            const Running& running) const;

    std::shared_ptr<Machine> machine_;
    ProgramText text_;
    std::shared_ptr<Code> code_;  // null: there is nothing to launch
    std::vector<ir::kernel::Buffer> buffers_;
    std::vector<int> inputs_, outputs_;
    size_t kernel_count_ = 0;
    int64_t arena_bytes_ = 0;                             // of temporaries
    std::vector<std::shared_ptr<const void>> constants_;  // by buffer number: keep their memory
    // By printed kernel: the bytes of an item that the runs before needed.
    mutable std::vector<std::atomic<int64_t>> workspace_bytes_;
};

}  // namespace composit::simt
