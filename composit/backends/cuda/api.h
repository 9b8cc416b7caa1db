// The part of CUDA's driver interface that composit calls, found in libcuda.so.1 when it is first
// asked for.
//
// Names, numbers and types are those of the CUDA Driver API (CUDA 12.0 and later). Functions that
// have a newer form are found by the newer form's name, as the vendor's header does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace composit::cuda {

// ----- types
using Status = int;        // CUresult
using DeviceId = int;      // CUdevice
using Pointer = uint64_t;  // CUdeviceptr: what the host's pointers hold, too
struct ContextHandle;
struct StreamHandle;
struct EventHandle;
struct ModuleHandle;
struct FunctionHandle;
using ContextId = ContextHandle*;
using StreamId = StreamHandle*;
using EventId = EventHandle*;
using ModuleId = ModuleHandle*;
using FunctionId = FunctionHandle*;

// ----- numbers
inline constexpr Status success = 0;
inline constexpr Status invalid_value = 1;
inline constexpr Status out_of_memory = 2;
inline constexpr Status no_device = 100;
inline constexpr Status not_ready = 600;
inline constexpr int attribute_threads_of_group = 1;
inline constexpr int attribute_shared_bytes_of_group = 8;
inline constexpr int attribute_warp_size = 10;
inline constexpr int attribute_multiprocessors = 16;
inline constexpr int attribute_compute_mode = 20;
inline constexpr int attribute_unified_addressing = 41;
inline constexpr int attribute_capability_major = 75;
inline constexpr int attribute_capability_minor = 76;
inline constexpr int compute_mode_prohibited = 2;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_default = 0;
inline constexpr unsigned event_without_times = 2;

// ----- functions
struct Api {
    Status (*cuInit)(unsigned);
    Status (*cuDriverGetVersion)(int*);
    Status (*cuDeviceGetCount)(int*);
    Status (*cuDeviceGet)(DeviceId*, int);
    Status (*cuDeviceGetName)(char*, int, DeviceId);
    Status (*cuDeviceGetAttribute)(int*, int, DeviceId);
    Status (*cuDeviceTotalMem_v2)(size_t*, DeviceId);
    Status (*cuDevicePrimaryCtxRetain)(ContextId*, DeviceId);
    Status (*cuCtxPushCurrent_v2)(ContextId);
    Status (*cuCtxPopCurrent_v2)(ContextId*);
    Status (*cuCtxSynchronize)();
    Status (*cuMemGetInfo_v2)(size_t* free, size_t* total);
    Status (*cuMemAlloc_v2)(Pointer*, size_t);
    Status (*cuMemFree_v2)(Pointer);
    Status (*cuMemHostAlloc)(void**, size_t, unsigned);
    Status (*cuMemcpyHtoDAsync_v2)(Pointer, const void*, size_t, StreamId);
    Status (*cuMemcpyDtoHAsync_v2)(void*, Pointer, size_t, StreamId);
    Status (*cuMemcpyDtoDAsync_v2)(Pointer, Pointer, size_t, StreamId);
    Status (*cuMemsetD8Async)(Pointer, unsigned char, size_t, StreamId);
    Status (*cuStreamCreate)(StreamId*, unsigned);
    Status (*cuStreamSynchronize)(StreamId);
    Status (*cuEventCreate)(EventId*, unsigned);
    Status (*cuEventRecord)(EventId, StreamId);
    Status (*cuEventQuery)(EventId);
    Status (*cuEventSynchronize)(EventId);
    Status (*cuEventElapsedTime)(float* milliseconds, EventId start, EventId end);
    Status (*cuEventDestroy_v2)(EventId);
    Status (*cuModuleLoadData)(ModuleId*, const void*);
    Status (*cuModuleUnload)(ModuleId);
    Status (*cuModuleGetFunction)(FunctionId*, ModuleId, const char*);
    Status (*cuLaunchKernel)(FunctionId, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned shared_bytes, StreamId, void** parameters, void** extra);
    Status (*cuGetErrorName)(Status, const char**);
    Status (*cuGetErrorString)(Status, const char**);
};

// The functions of the library of that name or path, or null and the reason why there are none. A
// library stays loaded.
const Api* find_api(const std::string& file, std::string& reason);

// "CUDA_ERROR_OUT_OF_MEMORY (out of memory)"
std::string name_of(const Api& api, Status status);

// "cuda:0: cuStreamSynchronize failed: CUDA_ERROR_ILLEGAL_ADDRESS (…). …" as an OutOfMemory or a
// RuntimeError.
[[noreturn]] void fail_call(const Api& api, const std::string& device, const std::string& call,
                            Status status);

}  // namespace composit::cuda
