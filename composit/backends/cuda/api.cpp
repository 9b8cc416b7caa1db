// Loads libcuda.so.1 and says what its errors mean.
#include "composit/backends/cuda/api.h"

#include "composit/base/error.h"

#include <dlfcn.h>
#include <map>
#include <memory>
#include <mutex>

namespace composit::cuda {
namespace {

struct LoadedDriver {
    Api api{};
    std::string reason;

    explicit LoadedDriver(const std::string& file) {
        void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            reason = text(file, " cannot be loaded: ", dlerror(),
                          ". An NVIDIA GPU and its driver are required");
            return;
        }
        const auto find = [&](auto& function, const char* name) {
            void* const symbol = dlsym(library, name);
            if (symbol == nullptr && reason.empty())
                reason = text(file, " has no ", name,
                              ". An NVIDIA driver for CUDA 12.0 or later (525 or later) is "
                              "required");
            function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
        };
#define COMPOSIT_FIND(name) find(api.name, #name)
        COMPOSIT_FIND(cuInit);
        COMPOSIT_FIND(cuDriverGetVersion);
        COMPOSIT_FIND(cuDeviceGetCount);
        COMPOSIT_FIND(cuDeviceGet);
        COMPOSIT_FIND(cuDeviceGetName);
        COMPOSIT_FIND(cuDeviceGetAttribute);
        COMPOSIT_FIND(cuDeviceTotalMem_v2);
        COMPOSIT_FIND(cuDevicePrimaryCtxRetain);
        COMPOSIT_FIND(cuCtxPushCurrent_v2);
        COMPOSIT_FIND(cuCtxPopCurrent_v2);
        COMPOSIT_FIND(cuCtxSynchronize);
        COMPOSIT_FIND(cuMemGetInfo_v2);
        COMPOSIT_FIND(cuMemAlloc_v2);
        COMPOSIT_FIND(cuMemFree_v2);
        COMPOSIT_FIND(cuMemHostAlloc);
        COMPOSIT_FIND(cuMemcpyHtoDAsync_v2);
        COMPOSIT_FIND(cuMemcpyDtoHAsync_v2);
        COMPOSIT_FIND(cuMemcpyDtoDAsync_v2);
        COMPOSIT_FIND(cuMemsetD8Async);
        COMPOSIT_FIND(cuStreamCreate);
        COMPOSIT_FIND(cuStreamSynchronize);
        COMPOSIT_FIND(cuEventCreate);
        COMPOSIT_FIND(cuEventRecord);
        COMPOSIT_FIND(cuEventQuery);
        COMPOSIT_FIND(cuEventSynchronize);
        COMPOSIT_FIND(cuEventElapsedTime);
        COMPOSIT_FIND(cuEventDestroy_v2);
        COMPOSIT_FIND(cuModuleLoadData);
        COMPOSIT_FIND(cuModuleUnload);
        COMPOSIT_FIND(cuModuleGetFunction);
        COMPOSIT_FIND(cuLaunchKernel);
        COMPOSIT_FIND(cuGetErrorName);
        COMPOSIT_FIND(cuGetErrorString);
#undef COMPOSIT_FIND
    }
};

}  // namespace

const Api* find_api(const std::string& file, std::string& reason) {
    static std::mutex mutex;
    static auto& loaded = *new std::map<std::string, std::unique_ptr<LoadedDriver>>;
    const std::lock_guard lock(mutex);
    std::unique_ptr<LoadedDriver>& driver = loaded[file];
    if (!driver) driver = std::make_unique<LoadedDriver>(file);
    reason = driver->reason;
    return reason.empty() ? &driver->api : nullptr;
}

std::string name_of(const Api& api, Status status) {
    const char* name = nullptr;
    const char* words = nullptr;
    if (api.cuGetErrorName(status, &name) != success || name == nullptr)
        return text("error ", status);
    if (api.cuGetErrorString(status, &words) != success || words == nullptr) return name;
    return text(name, " (", words, ")");
}

void fail_call(const Api& api, const std::string& device, const std::string& call, Status status) {
    if (status == out_of_memory)
        fail<OutOfMemory>(device, ": ", call, " failed: ", name_of(api, status),
                          ". More free memory of the device is required; other processes and "
                          "libraries may hold it.");
    fail<RuntimeError>(device, ": ", call, " failed: ", name_of(api, status),
                       ". Work of this process on the device, of any library, may have been the "
                       "cause; after most of these errors the process must be started again.");
}

}  // namespace composit::cuda
