// A device that runs kernels in groups of threads, as a back end.
#pragma once

#include "composit/backends/simt/machine.h"
#include "composit/runtime/backend.h"

#include <memory>
#include <string>

namespace composit::simt {

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
