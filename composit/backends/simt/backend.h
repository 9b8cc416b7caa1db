// A device that runs kernels in groups of threads, as a back end.
#pragma once

#include "composit/backends/simt/machine.h"
#include "composit/runtime/backend.h"

#include <functional>
#include <memory>
#include <string>

namespace composit::simt {

// What passes are to know of devices that run kernels in groups of threads.
Target target_of_groups();
// The text of a program's kernels in the language of that name, "opencl" or "cuda". ValueError for
// others; NotSupported where a kernel cannot be printed, naming it.
std::string print_for(const std::string& language, const ir::kernel::Program& program);

// Registers a family of back ends, of the devices that `open` gives when one is first asked for.
void register_devices(const std::string& family, std::function<OpenedDevices()> open);

class SimtBackend : public runtime::Backend {
  public:
    explicit SimtBackend(std::shared_ptr<Machine> machine);

    std::string name() const override { return machine_->name(); }
    std::shared_ptr<runtime::Device> device() const override { return machine_; }
    std::optional<std::string> refuses(const ir::kernel::Kernel& kernel,
                                       const ir::kernel::Program& program) const override;
    Target target() const override;
    std::shared_ptr<runtime::Executable> compile(const ir::kernel::Program& program,
                                                 const runtime::CompileOptions& options) override;

  private:
    std::shared_ptr<Machine> machine_;
};

}  // namespace composit::simt
