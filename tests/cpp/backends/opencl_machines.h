// Two OpenCL devices for tests: PoCL shows the CPU as often as it is told.
#pragma once

#include "composit/backends/opencl/devices.h"

#include <cstdlib>

namespace composit::tests {

// Opened once for the process. Empty, with the reason, where there is no OpenCL.
inline const opencl::OpenedDevices& opencl_devices() {
    static const opencl::OpenedDevices& opened = [] {
        setenv("POCL_DEVICES", "pthread pthread", 0);
        return *new opencl::OpenedDevices(opencl::open_devices());
    }();
    return opened;
}

}  // namespace composit::tests
