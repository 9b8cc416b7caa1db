// The kernels of programs as text in the language of a device, which need not be here.
#pragma once

#include "composit/ir/kernel/kernel.h"
#include "composit/target/target.h"

#include <optional>
#include <string>

namespace composit::device_source {

// What passes are to know of devices that run kernels in groups of threads: programs that are
// printed are made for it.
Target target_of_groups();

// Why a kernel of the program cannot be printed; nothing where it can.
std::optional<std::string> unprintable(const ir::kernel::Kernel& kernel,
                                       const ir::kernel::Program& program);

// The text of a program's kernels in the language of that name, "opencl" or "cuda". ValueError for
// others; NotSupported where a kernel cannot be printed, naming it.
std::string print_for(const std::string& language, const ir::kernel::Program& program);

}  // namespace composit::device_source
