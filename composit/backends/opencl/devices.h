// The OpenCL devices of this machine.
#pragma once

#include "composit/backends/simt/machine.h"

namespace composit::opencl {

using simt::OpenedDevices;

// Loads libOpenCL.so.1 and opens every device of every platform that can give the CPU's bits.
OpenedDevices open_devices();

}  // namespace composit::opencl
