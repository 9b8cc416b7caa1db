#include "composit/backends/simt/backend.h"

#include "composit/backends/simt/dialect.h"
#include "composit/backends/simt/executable.h"
#include "composit/backends/simt/program_text.h"
#include "composit/base/error.h"

#include <utility>

namespace composit::simt {

SimtBackend::SimtBackend(std::shared_ptr<Machine> machine) : machine_(std::move(machine)) {}

std::optional<std::string> SimtBackend::refuses(const ir::kernel::Kernel& kernel,
                                                const ir::kernel::Program& program) const {
    return unprintable(kernel, program);
}

// Parts of what a group of threads shares, in rows of a warp each; many, as hundreds of groups are
// at work side by side.
Target target_of_groups() {
    Target target;
    target.part_bytes = 32 << 10;
    target.near_bytes = 0;  // a launch costs more than a cache saves
    target.group_bytes = 128 << 10;
    target.enough_parts = 1024;
    target.few_parts = 256;
    target.most_narrow = 0;  // products are launched whole
    return target;
}

Target SimtBackend::target() const { return target_of_groups(); }

void register_devices(const std::string& family, std::function<OpenedDevices()> open) {
    runtime::register_backend_family(family, [open = std::move(open)] {
        OpenedDevices opened = open();
        runtime::BackendFamily found;
        for (auto& machine : opened.machines)
            found.backends.push_back(std::make_shared<SimtBackend>(std::move(machine)));
        found.why_none = std::move(opened.why_no_more);
        return found;
    });
}

std::string print_for(const std::string& language, const ir::kernel::Program& program) {
    user_check(language == "opencl" || language == "cuda", "source_for: there is no language '",
               language, "'. One of opencl, cuda is required.");
    return print_program(language == "cuda" ? cuda() : opencl(), program).text;
}

std::shared_ptr<runtime::Executable> SimtBackend::compile(const ir::kernel::Program& program,
                                                          const runtime::CompileOptions& options) {
    return std::make_shared<SimtExecutable>(machine_, program, options.cache_folder);
}

}  // namespace composit::simt
