// The NVIDIA GPUs of this machine.
#pragma once

#include "composit/backends/simt/machine.h"

#include <memory>
#include <string>
#include <vector>

namespace composit::cuda {

struct OpenedDevices {
    std::vector<std::shared_ptr<simt::Machine>> machines;  // "cuda:0", "cuda:1", …
    // Why there are none, or which ones cannot be used, and what is required.
    std::string why_no_more;
};

// The driver's library by name or path, and where NVRTC may be; empty: places_of_nvrtc().
struct Libraries {
    std::string driver = "libcuda.so.1";
    std::vector<std::string> nvrtc = {};
};

// Loads the driver and NVRTC, and finds the devices that this process may see
// (CUDA_VISIBLE_DEVICES). Nothing is made on a device yet.
OpenedDevices open_devices(const Libraries& libraries = {});

}  // namespace composit::cuda
