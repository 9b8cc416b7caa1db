// Registers the family "opencl", whose devices are looked for when one is first asked for.
#include "composit/backends/simt/backend.h"

#include "composit/backends/opencl/devices.h"

#include <utility>

namespace composit::opencl {
namespace {

const bool is_registered = [] {
    runtime::register_backend_family("opencl", [] {
        OpenedDevices opened = open_devices();
        runtime::BackendFamily family;
        for (auto& machine : opened.machines)
            family.backends.push_back(std::make_shared<simt::SimtBackend>(std::move(machine)));
        family.why_none = std::move(opened.why_no_more);
        return family;
    });
    return true;
}();

}  // namespace
}  // namespace composit::opencl
