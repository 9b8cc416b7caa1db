// Registers the family "opencl", whose devices are looked for when one is first asked for.
#include "composit/backends/simt/backend.h"

#include "composit/backends/opencl/devices.h"

namespace composit::opencl {
namespace {

const bool is_registered = [] {
    simt::register_devices("opencl", [] { return open_devices(); });
    return true;
}();

}  // namespace
}  // namespace composit::opencl
