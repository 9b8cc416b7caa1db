// A library with the functions of CUDA's driver and of NVRTC that composit calls, on the host, so
// that calls and kernels are tested where there is no GPU. Kernels run before a launch returns
// (kernels.h). Whoever loads it steers it by the functions fake_….
#include "kernels.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using Status = int;
constexpr Status success = 0, invalid_value = 1, out_of_memory = 2, no_device = 100,
                 invalid_image = 200, invalid_context = 201, not_found = 500, not_ready = 600,
                 compilation_failed = 6;  // the last of NVRTC's

struct State {
    std::mutex mutex;
    std::string log;                      // the calls that changed something, a line each
    std::map<std::string, Status> fails;  // calls that fail, until they are cleared
    std::map<std::string, int> numbers{{"devices", 2},      {"driver", 13000}, {"nvrtc_major", 13},
                                       {"capability", 90},  {"retained", 0},   {"busy", 0},
                                       {"blocks", 0},       {"modules", 0},    {"events", 0},
                                       {"compilations", 0}, {"oldest", 75},    {"ticks", 0}};
};

State& state() {
    static State& the = *new State;
    return the;
}

thread_local std::vector<void*> contexts;

Status enter(const char* call, const std::string& detail = "", bool needs_context = true) {
    const std::lock_guard lock(state().mutex);
    state().log += std::string(call) + detail + "\n";
    const auto place = state().fails.find(call);
    if (place != state().fails.end()) return place->second;
    return needs_context && contexts.empty() ? invalid_context : success;
}

int& number(const char* name) { return state().numbers.at(name); }

struct Event {
    double time;
};
struct Program {
    std::string text, log, code;
};

}  // namespace

// Ends a function that is to fail.
#define ENTER(...) \
    if (const Status entered = enter(__VA_ARGS__); entered != success) return entered

extern "C" {

// ----- for tests
void fake_fail(const char* call, int status) {
    const std::lock_guard lock(state().mutex);
    if (status == 0)
        state().fails.erase(call);
    else
        state().fails[call] = status;
}
int* fake_number(const char* name) { return &number(name); }
const char* fake_log() { return state().log.c_str(); }
void fake_clear_log() { state().log.clear(); }

// ----- the driver
Status cuInit(unsigned) {
    ENTER(__func__, "", false);
    return number("devices") == 0 ? no_device : success;
}
Status cuDriverGetVersion(int* version) { return *version = number("driver"), success; }
Status cuDeviceGetCount(int* count) { return *count = number("devices"), success; }
Status cuDeviceGet(int* device, int ordinal) { return *device = 10 + ordinal, success; }
Status cuDeviceGetName(char* name, int length, int) {
    return std::strncpy(name, "Imagined GPU", static_cast<size_t>(length)), success;
}
Status cuDeviceGetAttribute(int* value, int attribute, int) {
    *value = attribute == 75   ? number("capability") / 10
             : attribute == 76 ? number("capability") % 10
             : attribute == 41 ? 1
             : attribute == 10 ? 32
                               : 0;
    return success;
}
Status cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = size_t{1} << 30, success; }
Status cuDevicePrimaryCtxRetain(void** context, int device) {
    ENTER(__func__, " " + std::to_string(device), false);
    ++number("retained");
    *context = reinterpret_cast<void*>(static_cast<uintptr_t>(device) << 8);
    return success;
}
Status cuCtxPushCurrent_v2(void* context) { return contexts.push_back(context), success; }
Status cuCtxPopCurrent_v2(void** context) {
    if (contexts.empty()) return invalid_context;
    *context = contexts.back();
    contexts.pop_back();
    return success;
}
Status cuCtxSynchronize() {
    ENTER(__func__);
    return success;
}
Status cuMemGetInfo_v2(size_t* free, size_t* total) {
    ENTER(__func__);
    *free = size_t{1} << 29;
    *total = size_t{1} << 30;
    return success;
}
Status cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    ENTER(__func__, " " + std::to_string(bytes));
    if (bytes > size_t{1} << 29) return out_of_memory;
    void* const memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(memory, 0xab, bytes);
    ++number("blocks");
    *address = reinterpret_cast<uint64_t>(memory);
    return success;
}
Status cuMemFree_v2(uint64_t address) {
    ENTER(__func__);
    --number("blocks");
    std::free(reinterpret_cast<void*>(address));
    return success;
}
Status cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
    ENTER(__func__, " " + std::to_string(bytes));
    return *memory = std::malloc(bytes), success;
}
Status cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
    ENTER(__func__, " " + std::to_string(bytes));
    if (stream == nullptr) return invalid_value;
    return std::memcpy(reinterpret_cast<void*>(to), from, bytes), success;
}
Status cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
    ENTER(__func__, " " + std::to_string(bytes));
    if (stream == nullptr) return invalid_value;
    return std::memcpy(to, reinterpret_cast<void*>(from), bytes), success;
}
Status cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
    ENTER(__func__, " " + std::to_string(bytes));
    if (stream == nullptr) return invalid_value;
    return std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes), success;
}
Status cuMemsetD8Async(uint64_t to, unsigned char value, size_t bytes, void* stream) {
    ENTER(__func__, " " + std::to_string(bytes));
    if (stream == nullptr) return invalid_value;
    return std::memset(reinterpret_cast<void*>(to), value, bytes), success;
}
Status cuStreamCreate(void** stream, unsigned flags) {
    ENTER(__func__, " " + std::to_string(flags));
    return *stream = new int(0), success;
}
Status cuStreamSynchronize(void*) {
    ENTER(__func__);
    return success;
}
Status cuEventCreate(void** event, unsigned flags) {
    ENTER(__func__, " " + std::to_string(flags));
    ++number("events");
    return *event = new Event{0}, success;
}
Status cuEventRecord(void* event, void*) {
    ENTER(__func__);
    using Milliseconds = std::chrono::duration<double, std::milli>;
    static double ticks = 0;
    static_cast<Event*>(event)->time =
        number("ticks") != 0
            ? ticks += 2.5
            : Milliseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
    return success;
}
Status cuEventQuery(void*) {
    ENTER(__func__);
    return number("busy") != 0 ? not_ready : success;
}
Status cuEventSynchronize(void*) {
    ENTER(__func__);
    return success;
}
Status cuEventElapsedTime(float* milliseconds, void* start, void* end) {
    ENTER(__func__);
    *milliseconds =
        static_cast<float>(static_cast<Event*>(end)->time - static_cast<Event*>(start)->time);
    return success;
}
Status cuEventDestroy_v2(void* event) {
    --number("events");
    return delete static_cast<Event*>(event), success;
}
Status cuModuleLoadData(void** module, const void* image) {
    ENTER(__func__);
    const char* const code = static_cast<const char*>(image);
    const size_t start = std::strncmp(code, "CUBIN ", 6) == 0 ? 6
                         : std::strncmp(code, "PTX ", 4) == 0 ? 4
                                                              : 0;
    try {
        if (start > 0) *module = new fake_cuda::Module(code + start);
    } catch (const std::runtime_error&) {
        return invalid_image;
    }
    if (start == 0) return invalid_image;
    ++number("modules");
    return success;
}
Status cuModuleUnload(void* module) {
    ENTER(__func__);
    --number("modules");
    return delete static_cast<fake_cuda::Module*>(module), success;
}
Status cuModuleGetFunction(void** function, void* module, const char* name) {
    ENTER(__func__, std::string(" ") + name);
    const fake_cuda::Function* const found = static_cast<fake_cuda::Module*>(module)->find(name);
    if (found == nullptr) return not_found;
    return *function = const_cast<fake_cuda::Function*>(found), success;
}
Status cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared, void* stream, void** parameters,
                      void** extra) {
    const auto& kernel = *static_cast<const fake_cuda::Function*>(function);
    std::string detail = " " + kernel.name;
    for (const unsigned size : {gx, gy, gz, bx, by, bz, shared})
        detail += " " + std::to_string(size);
    ENTER(__func__, detail);
    if (gx == 0 || gy == 0 || bx == 0 || bx > 1024 || stream == nullptr || extra != nullptr)
        return invalid_value;
    std::vector<uint64_t> values;
    for (size_t k = 0; k < kernel.parameters; ++k)
        values.push_back(*static_cast<const uint64_t*>(parameters[k]));
    return fake_cuda::run(kernel, {gx, gy}, bx, values), success;
}
Status cuGetErrorName(Status status, const char** name) {
    *name = status == out_of_memory ? "CUDA_ERROR_OUT_OF_MEMORY"
            : status == no_device   ? "CUDA_ERROR_NO_DEVICE"
            : status == not_found   ? "CUDA_ERROR_NOT_FOUND"
            : status == 700         ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                                    : nullptr;
    return *name == nullptr ? invalid_value : success;
}
Status cuGetErrorString(Status, const char** words) { return *words = "in words", success; }

// ----- NVRTC
Status nvrtcVersion(int* major, int* minor) {
    return *major = number("nvrtc_major"), *minor = 99, success;
}
const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
Status nvrtcGetNumSupportedArchs(int* count) { return *count = 3, success; }
Status nvrtcGetSupportedArchs(int* numbers) {
    return numbers[0] = number("oldest"), numbers[1] = 80, numbers[2] = 90, success;
}
Status nvrtcCreateProgram(void** program, const char* text, const char*, int headers,
                          const char* const*, const char* const*) {
    if (headers != 0) return invalid_value;
    return *program = new Program{text, "", ""}, success;
}
Status nvrtcCompileProgram(void* program, int, const char* const*) {
    Program& compiled = *static_cast<Program*>(program);
    ++number("compilations");
    fake_cuda::Compiled made = fake_cuda::compile(compiled.text);
    compiled.log = made.log;
    if (!made.is_done) return compilation_failed;
    compiled.code = std::move(made.code);
    return success;
}
Status nvrtcDestroyProgram(void** program) {
    delete static_cast<Program*>(*program);
    return *program = nullptr, success;
}
Status nvrtcGetProgramLogSize(void* program, size_t* bytes) {
    return *bytes = static_cast<Program*>(program)->log.size() + 1, success;
}
Status nvrtcGetProgramLog(void* program, char* log) {
    return std::strcpy(log, static_cast<Program*>(program)->log.c_str()), success;
}
Status nvrtcGetCUBINSize(void* program, size_t* bytes) {
    return *bytes = 6 + static_cast<Program*>(program)->code.size() + 1, success;
}
Status nvrtcGetCUBIN(void* program, char* code) {
    const std::string whole = "CUBIN " + static_cast<Program*>(program)->code;
    return std::memcpy(code, whole.c_str(), whole.size() + 1), success;
}
Status nvrtcGetPTXSize(void* program, size_t* bytes) {
    return *bytes = 4 + static_cast<Program*>(program)->code.size() + 1, success;
}
Status nvrtcGetPTX(void* program, char* code) {
    const std::string whole = "PTX " + static_cast<Program*>(program)->code;
    return std::memcpy(code, whole.c_str(), whole.size() + 1), success;
}

}  // extern "C"
