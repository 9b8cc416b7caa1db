#include "composit/backends/cuda/devices.h"

#include "composit/backends/cuda/machine.h"
#include "composit/base/error.h"

namespace composit::cuda {
namespace {

constexpr int least_driver = 12000;  // CUDA 12.0

// How many devices there are, or why none can be used.
int count_devices(const Api& api, std::string& reason) {
    const auto said = [&](const char* call, Status status) {
        reason = text(call, " failed: ", name_of(api, status),
                      status == no_device
                          ? ". A GPU that this process may see (CUDA_VISIBLE_DEVICES) is required"
                          : ". A driver that works (nvidia-smi shows it) is required");
        return 0;
    };
    if (const Status status = api.cuInit(0); status != success) return said("cuInit", status);
    int version = 0;
    if (const Status status = api.cuDriverGetVersion(&version); status != success)
        return said("cuDriverGetVersion", status);
    if (version < least_driver) {
        reason = text("the driver is one for CUDA ", version / 1000, ".", version % 1000 / 10,
                      ". An NVIDIA driver for CUDA 12.0 or later (525 or later) is required");
        return 0;
    }
    int count = 0;
    if (const Status status = api.cuDeviceGetCount(&count); status != success)
        return said("cuDeviceGetCount", status);
    if (count == 0)
        reason =
            "the driver shows no GPU. One that this process may see (CUDA_VISIBLE_DEVICES) "
            "is required";
    return count;
}

}  // namespace

OpenedDevices open_devices(const Libraries& libraries) {
    OpenedDevices opened;
    const Api* const api = find_api(libraries.driver, opened.why_no_more);
    if (api == nullptr) return opened;
    const int count = count_devices(*api, opened.why_no_more);
    if (count == 0) return opened;
    int version = 0;
    api->cuDriverGetVersion(&version);
    const std::shared_ptr<const Nvrtc> nvrtc =
        find_nvrtc(libraries.nvrtc.empty() ? places_of_nvrtc() : libraries.nvrtc, version / 1000,
                   opened.why_no_more);
    if (nvrtc == nullptr) return opened;
    for (int number = 0; number < count; ++number) {
        std::string reason;
        DeviceId device = 0;
        if (const Status status = api->cuDeviceGet(&device, number); status != success)
            reason = text("cuDeviceGet failed: ", name_of(*api, status));
        else if (attribute_of(*api, device, attribute_compute_mode) == compute_mode_prohibited)
            reason = "its compute mode is 'prohibited' (nvidia-smi -c 0 changes it)";
        else if (attribute_of(*api, device, attribute_unified_addressing) == 0)
            reason = "it has no unified addressing";
        else
            try {
                opened.machines.push_back(
                    std::make_shared<CudaMachine>(*api, device, number, nvrtc));
            } catch (const Error& error) {
                reason = error.what();
            }
        if (!reason.empty())
            opened.why_no_more += text(opened.why_no_more.empty() ? "" : "; ", "cuda:", number,
                                       " cannot be used: ", reason);
    }
    return opened;
}

}  // namespace composit::cuda
