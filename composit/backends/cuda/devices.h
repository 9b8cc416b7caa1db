// The NVIDIA GPUs of this machine.
#pragma once

#include "composit/backends/simt/machine.h"

#include <string>
#include <vector>

namespace composit::cuda {

using simt::OpenedDevices;

// The driver's library by name or path, and where NVRTC may be; empty: places_of_nvrtc().
struct Libraries {
    std::string driver = "libcuda.so.1";
    std::vector<std::string> nvrtc = {};
};

// Loads the driver and NVRTC, and finds the devices that this process may see
// (CUDA_VISIBLE_DEVICES). Nothing is made on a device yet.
OpenedDevices open_devices(const Libraries& libraries = {});

}  // namespace composit::cuda
