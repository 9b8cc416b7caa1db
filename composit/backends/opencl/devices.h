// The OpenCL devices of this machine.
#pragma once

#include "composit/backends/simt/machine.h"

#include <memory>
#include <string>
#include <vector>

namespace composit::opencl {

struct OpenedDevices {
    std::vector<std::shared_ptr<simt::Machine>> machines;  // "opencl:0", "opencl:1", …
    // Why there are no more, or none: each device that cannot give the CPU's bits, and why; the
    // library that is missing.
    std::string why_no_more;
};

// Loads libOpenCL.so.1 and opens every device of every platform that can give the CPU's bits.
OpenedDevices open_devices();

}  // namespace composit::opencl
