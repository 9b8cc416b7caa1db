// Loads libOpenCL.so.1 and gives the numbers of its errors names.
#include "composit/backends/opencl/api.h"

#include "composit/base/error.h"

#include <dlfcn.h>
#include <map>

namespace composit::opencl {
namespace {

struct LoadedApi {
    Api api{};
    std::string reason;

    LoadedApi() {
        constexpr const char* file = "libOpenCL.so.1";
        void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) {
            reason = text(file, " cannot be loaded: ", dlerror(),
                          ". An OpenCL loader and a device's driver are required: on Debian "
                          "ocl-icd-libopencl1, and pocl-opencl-icd for the CPU");
            return;
        }
        const auto find = [&](auto& function, const char* name) {
            void* const symbol = dlsym(library, name);
            if (symbol == nullptr && reason.empty())
                reason = text(file, " has no ", name, ". One of OpenCL 1.2 or later is required");
            function = reinterpret_cast<std::decay_t<decltype(function)>>(symbol);
        };
#define COMPOSIT_FIND(name) find(api.name, #name)
        COMPOSIT_FIND(clGetPlatformIDs);
        COMPOSIT_FIND(clGetPlatformInfo);
        COMPOSIT_FIND(clGetDeviceIDs);
        COMPOSIT_FIND(clGetDeviceInfo);
        COMPOSIT_FIND(clCreateContext);
        COMPOSIT_FIND(clCreateCommandQueue);
        COMPOSIT_FIND(clCreateBuffer);
        COMPOSIT_FIND(clReleaseMemObject);
        COMPOSIT_FIND(clEnqueueReadBuffer);
        COMPOSIT_FIND(clEnqueueWriteBuffer);
        COMPOSIT_FIND(clEnqueueCopyBuffer);
        COMPOSIT_FIND(clEnqueueFillBuffer);
        COMPOSIT_FIND(clCreateProgramWithSource);
        COMPOSIT_FIND(clCreateProgramWithBinary);
        COMPOSIT_FIND(clBuildProgram);
        COMPOSIT_FIND(clGetProgramInfo);
        COMPOSIT_FIND(clGetProgramBuildInfo);
        COMPOSIT_FIND(clReleaseProgram);
        COMPOSIT_FIND(clCreateKernel);
        COMPOSIT_FIND(clReleaseKernel);
        COMPOSIT_FIND(clSetKernelArg);
        COMPOSIT_FIND(clEnqueueNDRangeKernel);
        COMPOSIT_FIND(clEnqueueMarkerWithWaitList);
        COMPOSIT_FIND(clWaitForEvents);
        COMPOSIT_FIND(clGetEventInfo);
        COMPOSIT_FIND(clGetEventProfilingInfo);
        COMPOSIT_FIND(clReleaseEvent);
        COMPOSIT_FIND(clFlush);
        COMPOSIT_FIND(clFinish);
#undef COMPOSIT_FIND
    }
};

// "OUT_OF_RESOURCES" for -5; the specification's numbers from 0 to -19 and from -30 to -68.
constexpr const char* names_from_0[] = {"SUCCESS",
                                        "DEVICE_NOT_FOUND",
                                        "DEVICE_NOT_AVAILABLE",
                                        "COMPILER_NOT_AVAILABLE",
                                        "MEM_OBJECT_ALLOCATION_FAILURE",
                                        "OUT_OF_RESOURCES",
                                        "OUT_OF_HOST_MEMORY",
                                        "PROFILING_INFO_NOT_AVAILABLE",
                                        "MEM_COPY_OVERLAP",
                                        "IMAGE_FORMAT_MISMATCH",
                                        "IMAGE_FORMAT_NOT_SUPPORTED",
                                        "BUILD_PROGRAM_FAILURE",
                                        "MAP_FAILURE",
                                        "MISALIGNED_SUB_BUFFER_OFFSET",
                                        "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
                                        "COMPILE_PROGRAM_FAILURE",
                                        "LINKER_NOT_AVAILABLE",
                                        "LINK_PROGRAM_FAILURE",
                                        "DEVICE_PARTITION_FAILED",
                                        "KERNEL_ARG_INFO_NOT_AVAILABLE"};
constexpr const char* names_from_30[] = {"INVALID_VALUE",
                                         "INVALID_DEVICE_TYPE",
                                         "INVALID_PLATFORM",
                                         "INVALID_DEVICE",
                                         "INVALID_CONTEXT",
                                         "INVALID_QUEUE_PROPERTIES",
                                         "INVALID_COMMAND_QUEUE",
                                         "INVALID_HOST_PTR",
                                         "INVALID_MEM_OBJECT",
                                         "INVALID_IMAGE_FORMAT_DESCRIPTOR",
                                         "INVALID_IMAGE_SIZE",
                                         "INVALID_SAMPLER",
                                         "INVALID_BINARY",
                                         "INVALID_BUILD_OPTIONS",
                                         "INVALID_PROGRAM",
                                         "INVALID_PROGRAM_EXECUTABLE",
                                         "INVALID_KERNEL_NAME",
                                         "INVALID_KERNEL_DEFINITION",
                                         "INVALID_KERNEL",
                                         "INVALID_ARG_INDEX",
                                         "INVALID_ARG_VALUE",
                                         "INVALID_ARG_SIZE",
                                         "INVALID_KERNEL_ARGS",
                                         "INVALID_WORK_DIMENSION",
                                         "INVALID_WORK_GROUP_SIZE",
                                         "INVALID_WORK_ITEM_SIZE",
                                         "INVALID_GLOBAL_OFFSET",
                                         "INVALID_EVENT_WAIT_LIST",
                                         "INVALID_EVENT",
                                         "INVALID_OPERATION",
                                         "INVALID_GL_OBJECT",
                                         "INVALID_BUFFER_SIZE",
                                         "INVALID_MIP_LEVEL",
                                         "INVALID_GLOBAL_WORK_SIZE",
                                         "INVALID_PROPERTY",
                                         "INVALID_IMAGE_DESCRIPTOR",
                                         "INVALID_COMPILER_OPTIONS",
                                         "INVALID_LINKER_OPTIONS",
                                         "INVALID_DEVICE_PARTITION_COUNT"};

}  // namespace

const Api* find_api(std::string& reason) {
    static const LoadedApi& loaded = *new LoadedApi;
    reason = loaded.reason;
    return reason.empty() ? &loaded.api : nullptr;
}

std::string name_of(Status status) {
    const int64_t number = -static_cast<int64_t>(status);
    if (status == no_platform) return "CL_PLATFORM_NOT_FOUND_KHR";
    if (number >= 0 && number < std::ssize(names_from_0)) return text("CL_", names_from_0[number]);
    if (number >= 30 && number < 30 + std::ssize(names_from_30))
        return text("CL_", names_from_30[number - 30]);
    return text("error ", status);
}

void fail_call(const std::string& device, const char* call, Status status) {
    if (status == memory_object_allocation_failure || status == out_of_host_memory)
        fail<OutOfMemory>(device, ": ", call, " failed: ", name_of(status),
                          ". More free memory of the device is required.");
    fail<RuntimeError>(device, ": ", call, " failed: ", name_of(status),
                       ". The device, its driver or its limit of time ended the work; results "
                       "that were not read are lost.");
}

}  // namespace composit::opencl
