// The part of OpenCL 1.2 that composit calls, found in libOpenCL.so.1 when it is first asked for.
//
// Names, numbers and types are those of the OpenCL specification (Khronos, version 1.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace composit::opencl {

// ----- types
using Status = int32_t;  // cl_int
using UInt = uint32_t;   // cl_uint, cl_bool
using ULong = uint64_t;  // cl_ulong, bit fields and types of devices and memory
using Info = uint32_t;   // the numbers of what is asked for
struct PlatformHandle;
struct DeviceHandle;
struct ContextHandle;
struct QueueHandle;
struct MemoryHandle;
struct ProgramHandle;
struct KernelHandle;
struct EventHandle;
using PlatformId = PlatformHandle*;
using DeviceId = DeviceHandle*;
using ContextId = ContextHandle*;
using QueueId = QueueHandle*;
using MemoryId = MemoryHandle*;
using ProgramId = ProgramHandle*;
using KernelId = KernelHandle*;
using EventId = EventHandle*;
using Notify = void (*)(const char*, const void*, size_t, void*);
using BuildNotify = void (*)(ProgramId, void*);

// ----- numbers
inline constexpr Status success = 0;
inline constexpr Status device_not_found = -1;
inline constexpr Status memory_object_allocation_failure = -4;
inline constexpr Status out_of_resources = -5;
inline constexpr Status out_of_host_memory = -6;
inline constexpr Status invalid_buffer_size = -61;
inline constexpr Status no_platform = -1001;  // of the loader: cl_khr_icd

inline constexpr ULong any_device = 0xFFFFFFFF;   // CL_DEVICE_TYPE_ALL
inline constexpr ULong profiling_queue = 1 << 1;  // CL_QUEUE_PROFILING_ENABLE
inline constexpr ULong read_write = 1 << 0;       // CL_MEM_READ_WRITE
inline constexpr ULong use_host = 1 << 3;         // CL_MEM_USE_HOST_PTR
inline constexpr Info platform_name = 0x0902;
inline constexpr Info device_type = 0x1000;
inline constexpr ULong type_cpu = 1 << 1;  // CL_DEVICE_TYPE_CPU
inline constexpr Info device_address_bits = 0x100D;
inline constexpr Info device_max_memory_allocation = 0x1010;
inline constexpr Info device_single_float_config = 0x101B;
inline constexpr Info device_global_memory = 0x101F;
inline constexpr Info device_little_endian = 0x1026;
inline constexpr Info device_available = 0x1027;
inline constexpr Info device_compiler_available = 0x1028;
inline constexpr Info device_name = 0x102B;
inline constexpr Info driver_version = 0x102D;
inline constexpr Info device_version = 0x102F;
inline constexpr Info device_double_float_config = 0x1032;
inline constexpr ULong float_denormals = 1 << 0;
inline constexpr ULong float_infinities = 1 << 1;
inline constexpr ULong float_rounds_to_nearest = 1 << 2;
inline constexpr ULong float_divides_correctly = 1 << 7;
inline constexpr Info program_binary_sizes = 0x1165;
inline constexpr Info program_binaries = 0x1166;
inline constexpr Info program_build_log = 0x1183;
inline constexpr Info event_status = 0x11D3;   // CL_EVENT_COMMAND_EXECUTION_STATUS
inline constexpr Info profiling_end = 0x1283;  // CL_PROFILING_COMMAND_END
inline constexpr Status event_complete = 0;

// ----- functions
struct Api {
    Status (*clGetPlatformIDs)(UInt, PlatformId*, UInt*);
    Status (*clGetPlatformInfo)(PlatformId, Info, size_t, void*, size_t*);
    Status (*clGetDeviceIDs)(PlatformId, ULong, UInt, DeviceId*, UInt*);
    Status (*clGetDeviceInfo)(DeviceId, Info, size_t, void*, size_t*);
    ContextId (*clCreateContext)(const intptr_t*, UInt, const DeviceId*, Notify, void*, Status*);
    QueueId (*clCreateCommandQueue)(ContextId, DeviceId, ULong, Status*);
    MemoryId (*clCreateBuffer)(ContextId, ULong, size_t, void*, Status*);
    Status (*clReleaseMemObject)(MemoryId);
    Status (*clEnqueueReadBuffer)(QueueId, MemoryId, UInt, size_t, size_t, void*, UInt,
                                  const EventId*, EventId*);
    Status (*clEnqueueWriteBuffer)(QueueId, MemoryId, UInt, size_t, size_t, const void*, UInt,
                                   const EventId*, EventId*);
    Status (*clEnqueueCopyBuffer)(QueueId, MemoryId, MemoryId, size_t, size_t, size_t, UInt,
                                  const EventId*, EventId*);
    Status (*clEnqueueFillBuffer)(QueueId, MemoryId, const void*, size_t, size_t, size_t, UInt,
                                  const EventId*, EventId*);
    ProgramId (*clCreateProgramWithSource)(ContextId, UInt, const char**, const size_t*, Status*);
    ProgramId (*clCreateProgramWithBinary)(ContextId, UInt, const DeviceId*, const size_t*,
                                           const unsigned char**, Status*, Status*);
    Status (*clBuildProgram)(ProgramId, UInt, const DeviceId*, const char*, BuildNotify, void*);
    Status (*clGetProgramInfo)(ProgramId, Info, size_t, void*, size_t*);
    Status (*clGetProgramBuildInfo)(ProgramId, DeviceId, Info, size_t, void*, size_t*);
    Status (*clReleaseProgram)(ProgramId);
    KernelId (*clCreateKernel)(ProgramId, const char*, Status*);
    Status (*clReleaseKernel)(KernelId);
    Status (*clSetKernelArg)(KernelId, UInt, size_t, const void*);
    Status (*clEnqueueNDRangeKernel)(QueueId, KernelId, UInt, const size_t*, const size_t*,
                                     const size_t*, UInt, const EventId*, EventId*);
    Status (*clEnqueueMarkerWithWaitList)(QueueId, UInt, const EventId*, EventId*);
    Status (*clWaitForEvents)(UInt, const EventId*);
    Status (*clGetEventInfo)(EventId, Info, size_t, void*, size_t*);
    Status (*clGetEventProfilingInfo)(EventId, Info, size_t, void*, size_t*);
    Status (*clReleaseEvent)(EventId);
    Status (*clFlush)(QueueId);
    Status (*clFinish)(QueueId);
};

// The functions, or null and the reason why there are none. The library stays loaded.
const Api* find_api(std::string& reason);

// "CL_OUT_OF_RESOURCES", or "error -9999" for a number that is not in the specification.
std::string name_of(Status status);

// "opencl:0: clFinish failed: CL_OUT_OF_RESOURCES. …" as an OutOfMemory or a RuntimeError.
[[noreturn]] void fail_call(const std::string& device, const char* call, Status status);
inline void check_call(const std::string& device, const char* call, Status status) {
    if (status != success) [[unlikely]]
        fail_call(device, call, status);
}

}  // namespace composit::opencl
