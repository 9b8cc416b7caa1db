// The parts of example programs that know a driver.
#pragma once

#include <string_view>

namespace composit::device_source {

// A class Device of a kernel: memory, calls; after the headers of C++.
extern const std::string_view opencl_device, cuda_device;
// Numbers to call it with, and how results are printed.
extern const std::string_view example_support;

}  // namespace composit::device_source
