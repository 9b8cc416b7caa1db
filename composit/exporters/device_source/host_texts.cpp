// Example programs: OpenCL 1.2, and CUDA's driver with NVRTC. What they call of these is declared
// in the text, as the specifications of Khronos and NVIDIA say, so that no headers are needed.
#include "composit/exporters/device_source/host_texts.h"

namespace composit::device_source {

const std::string_view opencl_device = R"(
extern "C" {  // of OpenCL 1.2; handles are void*
int32_t clGetPlatformIDs(uint32_t, void**, uint32_t*);
int32_t clGetDeviceIDs(void*, uint64_t, uint32_t, void**, uint32_t*);
void* clCreateContext(const intptr_t*, uint32_t, void* const*, void*, void*, int32_t*);
void* clCreateCommandQueue(void*, void*, uint64_t, int32_t*);
void* clCreateProgramWithSource(void*, uint32_t, const char**, const size_t*, int32_t*);
int32_t clBuildProgram(void*, uint32_t, void* const*, const char*, void*, void*);
int32_t clGetProgramBuildInfo(void*, void*, uint32_t, size_t, void*, size_t*);
void* clCreateKernel(void*, const char*, int32_t*);
void* clCreateBuffer(void*, uint64_t, size_t, void*, int32_t*);
int32_t clSetKernelArg(void*, uint32_t, size_t, const void*);
int32_t clEnqueueNDRangeKernel(void*, void*, uint32_t, const size_t*, const size_t*,
                               const size_t*, uint32_t, void* const*, void**);
int32_t clEnqueueReadBuffer(void*, void*, uint32_t, size_t, size_t, void*, uint32_t,
                            void* const*, void**);
int32_t clEnqueueWriteBuffer(void*, void*, uint32_t, size_t, size_t, const void*, uint32_t,
                             void* const*, void**);
int32_t clReleaseMemObject(void*);
}

// The first device of the first platform, with one kernel of a file.
class Device {
  public:
    Device(const std::string& text, const char* kernel) {
        void* platform = nullptr;
        check("clGetPlatformIDs", clGetPlatformIDs(1, &platform, nullptr));
        check("clGetDeviceIDs", clGetDeviceIDs(platform, 0xFFFFFFFF, 1, &device_, nullptr));
        int32_t status = 0;
        context_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
        check("clCreateContext", status);
        queue_ = clCreateCommandQueue(context_, device_, 0, &status);
        check("clCreateCommandQueue", status);
        const char* source = text.c_str();
        void* const program = clCreateProgramWithSource(context_, 1, &source, nullptr, &status);
        check("clCreateProgramWithSource", status);
        // The bits of single precision are those of the CPU with this option alone.
        const char* options = "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";
        if (clBuildProgram(program, 1, &device_, options, nullptr, nullptr) != 0) {
            std::vector<char> log(1 << 16);
            clGetProgramBuildInfo(program, device_, 0x1183, log.size() - 1, log.data(), nullptr);
            std::fprintf(stderr, "%s\n", log.data());
            std::exit(1);
        }
        kernel_ = clCreateKernel(program, kernel, &status);
        check("clCreateKernel", status);
    }

    void* allocate(size_t bytes) {
        int32_t status = 0;
        void* const memory =
            clCreateBuffer(context_, 1, bytes == 0 ? 1 : bytes, nullptr, &status);
        check("clCreateBuffer", status);
        return memory;
    }
    void release(void* memory) { clReleaseMemObject(memory); }
    void write(void* memory, const void* from, size_t bytes) {
        if (bytes == 0) return;
        check("clEnqueueWriteBuffer", clEnqueueWriteBuffer(queue_, memory, 1, 0, bytes, from, 0,
                                                           nullptr, nullptr));
    }
    void read(void* memory, void* to, size_t bytes) {
        if (bytes == 0) return;
        check("clEnqueueReadBuffer",
              clEnqueueReadBuffer(queue_, memory, 1, 0, bytes, to, 0, nullptr, nullptr));
    }

    // Memory is given as void*, numbers as int64_t.
    template <class... Arguments>
    void call(int64_t items, const Arguments&... arguments) {
        uint32_t place = 0;
        (check("clSetKernelArg",
               clSetKernelArg(kernel_, place++, sizeof arguments, &arguments)),
         ...);
        const size_t threads = 64, all = (static_cast<size_t>(items) + 63) / 64 * 64;
        check("clEnqueueNDRangeKernel",
              clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &all, &threads, 0, nullptr,
                                     nullptr));
    }

  private:
    static void check(const char* called, int32_t status) {
        if (status == 0) return;
        std::fprintf(stderr, "%s failed with the status %d\n", called, status);
        std::exit(1);
    }

    void *device_ = nullptr, *context_ = nullptr, *queue_ = nullptr, *kernel_ = nullptr;
};
)";

const std::string_view cuda_device = R"(
extern "C" {  // of CUDA's driver and of NVRTC; handles are void*
int cuInit(unsigned);
int cuDeviceGet(int*, int);
int cuDeviceGetAttribute(int*, int, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuMemAlloc_v2(unsigned long long*, size_t);
int cuMemFree_v2(unsigned long long);
int cuMemcpyHtoD_v2(unsigned long long, const void*, size_t);
int cuMemcpyDtoH_v2(void*, unsigned long long, size_t);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   void*, void**, void**);
int nvrtcCreateProgram(void**, const char*, const char*, int, const char* const*,
                       const char* const*);
int nvrtcCompileProgram(void*, int, const char* const*);
int nvrtcGetPTXSize(void*, size_t*);
int nvrtcGetPTX(void*, char*);
int nvrtcGetProgramLogSize(void*, size_t*);
int nvrtcGetProgramLog(void*, char*);
}

// The first device, with one kernel of a file.
class Device {
  public:
    Device(const std::string& text, const char* kernel) {
        int device = 0, major = 0, minor = 0;
        void *context = nullptr, *program = nullptr, *module = nullptr;
        check("cuInit", cuInit(0));
        check("cuDeviceGet", cuDeviceGet(&device, 0));
        check("cuDeviceGetAttribute", cuDeviceGetAttribute(&major, 75, device));
        check("cuDeviceGetAttribute", cuDeviceGetAttribute(&minor, 76, device));
        check("cuDevicePrimaryCtxRetain", cuDevicePrimaryCtxRetain(&context, device));
        check("cuCtxSetCurrent", cuCtxSetCurrent(context));
        check("nvrtcCreateProgram",
              nvrtcCreateProgram(&program, text.c_str(), "kernels.cu", 0, nullptr, nullptr));
        const std::string architecture = "--gpu-architecture=compute_" + std::to_string(major) +
                                         std::to_string(minor);
        // The bits are those of the CPU where products are rounded before they are added.
        const char* options[] = {architecture.c_str(), "--fmad=false"};
        const int status = nvrtcCompileProgram(program, 2, options);
        size_t bytes = 0;
        if (status != 0) {
            nvrtcGetProgramLogSize(program, &bytes);
            std::vector<char> log(bytes + 1);
            nvrtcGetProgramLog(program, log.data());
            std::fprintf(stderr, "%s\n", log.data());
        }
        check("nvrtcCompileProgram", status);
        check("nvrtcGetPTXSize", nvrtcGetPTXSize(program, &bytes));
        std::vector<char> code(bytes);
        check("nvrtcGetPTX", nvrtcGetPTX(program, code.data()));
        check("cuModuleLoadData", cuModuleLoadData(&module, code.data()));
        check("cuModuleGetFunction", cuModuleGetFunction(&kernel_, module, kernel));
    }

    void* allocate(size_t bytes) {
        unsigned long long memory = 0;
        check("cuMemAlloc", cuMemAlloc_v2(&memory, bytes == 0 ? 1 : bytes));
        return reinterpret_cast<void*>(memory);
    }
    void release(void* memory) { cuMemFree_v2(reinterpret_cast<unsigned long long>(memory)); }
    void write(void* memory, const void* from, size_t bytes) {
        if (bytes == 0) return;
        check("cuMemcpyHtoD",
              cuMemcpyHtoD_v2(reinterpret_cast<unsigned long long>(memory), from, bytes));
    }
    void read(void* memory, void* to, size_t bytes) {
        if (bytes == 0) return;
        check("cuMemcpyDtoH",
              cuMemcpyDtoH_v2(to, reinterpret_cast<unsigned long long>(memory), bytes));
    }

    // Memory is given as void*, numbers as int64_t.
    template <class... Arguments>
    void call(int64_t items, Arguments... arguments) {
        void* all[] = {&arguments...};
        const auto groups = static_cast<unsigned>((items + 63) / 64);
        check("cuLaunchKernel", cuLaunchKernel(kernel_, groups, 1, 1, 64, 1, 1, 0, nullptr, all,
                                               nullptr));
    }

  private:
    static void check(const char* called, int status) {
        if (status == 0) return;
        std::fprintf(stderr, "%s failed with the status %d\n", called, status);
        std::exit(1);
    }

    void* kernel_ = nullptr;
};
)";

const std::string_view example_support = R"(
// Some numbers to begin with: 0.1, 0.2, …
template <class T>
std::vector<T> numbers(int64_t count) {
    std::vector<T> made;
    for (int64_t i = 0; i < count; ++i) made.push_back(static_cast<T>(0.1 * (i + 1)));
    return made;
}

template <class T>
void print(const char* name, const std::vector<T>& values) {
    std::printf("%s:", name);
    for (const T value : values) std::printf(" %.17g", static_cast<double>(value));
    std::printf("\n");
}

// The elements in memory of the device.
template <class T>
void* sent(Device& device, const std::vector<T>& values) {
    void* const memory = device.allocate(values.size() * sizeof(T));
    device.write(memory, values.data(), values.size() * sizeof(T));
    return memory;
}

template <class T>
void fetch(Device& device, void* memory, std::vector<T>& values) {
    device.read(memory, values.data(), values.size() * sizeof(T));
    device.release(memory);
}
)";

}  // namespace composit::device_source
