// Kernels as text of OpenCL C and CUDA C++: the printers of the back ends for devices, for users.
#include "composit/exporters/device_source/device_source.h"

#include "composit/backends/simt/backend.h"
#include "composit/backends/simt/kernel_printer.h"

namespace composit::device_source {

Target target_of_groups() { return simt::target_of_groups(); }

std::optional<std::string> unprintable(const ir::kernel::Kernel& kernel,
                                       const ir::kernel::Program& program) {
    return simt::unprintable(kernel, program);
}

std::string print_for(const std::string& language, const ir::kernel::Program& program) {
    return simt::print_for(language, program);
}

}  // namespace composit::device_source
