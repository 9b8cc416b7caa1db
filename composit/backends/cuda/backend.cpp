// Registers the family "cuda", whose devices are looked for when one is first asked for.
#include "composit/backends/simt/backend.h"

#include "composit/backends/cuda/devices.h"

namespace composit::cuda {
namespace {

const bool is_registered = [] {
    simt::register_devices("cuda", [] { return open_devices(); });
    return true;
}();

}  // namespace
}  // namespace composit::cuda
