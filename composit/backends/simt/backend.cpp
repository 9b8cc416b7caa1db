#include "composit/backends/simt/backend.h"

#include "composit/backends/simt/executable.h"

#include <utility>

namespace composit::simt {

SimtBackend::SimtBackend(std::shared_ptr<Machine> machine) : machine_(std::move(machine)) {}

std::optional<std::string> SimtBackend::refuses(const ir::kernel::Kernel& kernel,
                                                const ir::kernel::Program& program) const {
    return unprintable(kernel, program);
}

std::shared_ptr<runtime::Executable> SimtBackend::compile(const ir::kernel::Program& program,
                                                          const runtime::CompileOptions& options) {
    return std::make_shared<SimtExecutable>(machine_, program, options.cache_folder);
}

}  // namespace composit::simt
