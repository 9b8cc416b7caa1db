#include "composit/backends/opencl/devices.h"

#include "composit/backends/opencl/machine.h"
#include "composit/base/error.h"

#include <cstdio>

namespace composit::opencl {
namespace {

// What the device lacks for the bits of the CPU, or to be programmed at all; empty: nothing.
std::string what_lacks(const Api& api, DeviceId device) {
    const auto number = [&](Info what) { return device_value<UInt>(api, device, what); };
    int major = 0, minor = 0;
    const std::string version = device_text(api, device, device_version);
    if (std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor) != 2 ||
        major * 10 + minor < 12)
        return text("it has '", version, "', and OpenCL 1.2 is required");
    if (number(device_available) == 0) return "its driver says that it is not available";
    if (number(device_compiler_available) == 0) return "its driver has no compiler";
    if (number(device_little_endian) == 0) return "its numbers are big-endian";
    if (number(device_address_bits) != 64) return "its addresses do not have 64 bits";
    const auto single = device_value<ULong>(api, device, device_single_float_config);
    if ((single & float_divides_correctly) == 0)
        return "it does not round quotients and square roots of float32 correctly";
    if ((single & float_denormals) == 0) return "it has no subnormal numbers of float32";
    if ((single & float_rounds_to_nearest) == 0 || (single & float_infinities) == 0)
        return "its float32 is not that of IEEE 754";
    if (device_value<ULong>(api, device, device_double_float_config) == 0)
        return "it has no float64";
    return "";
}

template <class Id, class List>
std::vector<Id> listed(const List& list) {
    UInt count = 0;
    if (list(0, nullptr, &count) != success || count == 0) return {};
    std::vector<Id> ids(count);
    if (list(count, ids.data(), nullptr) != success) return {};
    return ids;
}

}  // namespace

OpenedDevices open_devices() {
    OpenedDevices opened;
    const auto say = [&](const std::string& reason) {
        opened.why_no_more += (opened.why_no_more.empty() ? "" : "; ") + reason;
    };
    std::string reason;
    const Api* const api = find_api(reason);
    if (api == nullptr) {
        say(reason);
        return opened;
    }
    for (const PlatformId platform :
         listed<PlatformId>([&](UInt room, PlatformId* ids, UInt* count) {
             return api->clGetPlatformIDs(room, ids, count);
         }))
        for (const DeviceId device : listed<DeviceId>([&](UInt room, DeviceId* ids, UInt* count) {
                 return api->clGetDeviceIDs(platform, any_device, room, ids, count);
             })) {
            const std::string lacks = what_lacks(*api, device);
            const std::string device_said = device_text(*api, device, device_name);
            if (!lacks.empty()) {
                say(text(device_said, " cannot be used: ", lacks));
                continue;
            }
            try {
                opened.machines.push_back(std::make_shared<OpenClMachine>(
                    *api, device, text("opencl:", opened.machines.size())));
            } catch (const Error& error) {
                say(text(device_said, " cannot be used: ", error.what()));
            }
        }
    if (opened.machines.empty() && opened.why_no_more.empty())
        say("libOpenCL.so.1 knows no device. A device's driver is required: on Debian "
            "pocl-opencl-icd for the CPU");
    return opened;
}

}  // namespace composit::opencl
