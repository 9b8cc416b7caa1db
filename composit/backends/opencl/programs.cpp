// Code of an OpenCL device: built from text, or from the binary of an earlier build, and launched.
#include "composit/backends/c_family/code_alone.h"
#include "composit/backends/opencl/machine.h"
#include "composit/backends/simt/dialect.h"
#include "composit/base/error.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace composit::opencl {
namespace {

// No other option: neither may the compiler join products with sums (the text has the pragma that
// says so), nor flush subnormals, nor assume that numbers are finite.
constexpr const char* build_options = "-w -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt";

class OpenClCode : public simt::Code {
  public:
    OpenClCode(const Api& api, std::string device, ProgramId program)
        : api_(api), device_(std::move(device)), program_(program) {}
    ~OpenClCode() override {
        for (const auto& [name, kernel] : kernels_) api_.clReleaseKernel(kernel);
        api_.clReleaseProgram(program_);
    }
    OpenClCode(const OpenClCode&) = delete;
    OpenClCode& operator=(const OpenClCode&) = delete;

    std::string build_command() const override { return text("clBuildProgram ", build_options); }

    // A kernel has its arguments from when they are set until it is asked for: one thread at a
    // time.
    std::mutex& mutex() const { return mutex_; }

    KernelId kernel(const std::string& name) const {
        const auto place = kernels_.find(name);
        if (place != kernels_.end()) return place->second;
        Status status = success;
        const KernelId kernel = api_.clCreateKernel(program_, name.c_str(), &status);
        check_call(device_, text("clCreateKernel of ", name).c_str(), status);
        kernels_[name] = kernel;
        return kernel;
    }

  private:
    const Api& api_;
    std::string device_;
    ProgramId program_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, KernelId> kernels_;
};

std::string build_log(const Api& api, ProgramId program, DeviceId device) {
    size_t bytes = 0;
    if (api.clGetProgramBuildInfo(program, device, program_build_log, 0, nullptr, &bytes) !=
            success ||
        bytes == 0)
        return "";
    std::string log(bytes, '\0');
    api.clGetProgramBuildInfo(program, device, program_build_log, bytes, log.data(), nullptr);
    log.resize(std::min(log.size(), log.find('\0')));
    return log;
}

}  // namespace

const simt::Dialect& OpenClMachine::dialect() const {
    return has_loops_ ? simt::opencl_of_cpus() : simt::opencl();
}

std::shared_ptr<simt::Code> OpenClMachine::build(const std::string& text,
                                                 const std::string& cache_folder) {
    refuse_forked();
    return loaded_.find_or_build(text, [&] { return build_now(text, cache_folder); });
}

std::shared_ptr<simt::Code> OpenClMachine::build_now(const std::string& text,
                                                     const std::string& folder) {
    const simt::BinaryKey key{"opencl", composit::text(identity_, "\noptions ", build_options),
                              text};
    if (driver_keeps_code_)
        return std::make_shared<OpenClCode>(api_, name_, from_text(key, folder));
    ProgramId program = nullptr;
    if (const std::optional<std::string> binary = simt::cached_binary(key, folder))
        program = from_binary(*binary);
    if (program == nullptr) {
        program = from_text(key, folder);
        const std::string binary = binary_of(program);
        if (!binary.empty()) simt::cache_binary(key, folder, binary);
    }
    return std::make_shared<OpenClCode>(api_, name_, program);
}

// Null for a binary that the driver does not take any more.
ProgramId OpenClMachine::from_binary(const std::string& binary) const {
    const size_t bytes = binary.size();
    const auto* data = reinterpret_cast<const unsigned char*>(binary.data());
    Status status = success, of_binary = success;
    const ProgramId program =
        api_.clCreateProgramWithBinary(context_, 1, &device_, &bytes, &data, &of_binary, &status);
    if (status != success || program == nullptr) return nullptr;
    if (of_binary == success &&
        api_.clBuildProgram(program, 1, &device_, build_options, nullptr, nullptr) == success)
        return program;
    api_.clReleaseProgram(program);
    return nullptr;
}

ProgramId OpenClMachine::from_text(const simt::BinaryKey& key, const std::string& folder) const {
    const std::string code =
        c_family::code_alone(key.text);  // drivers keep what they compiled by it
    const char* data = code.c_str();
    const size_t bytes = code.size();
    Status status = success;
    const ProgramId program = api_.clCreateProgramWithSource(context_, 1, &data, &bytes, &status);
    check("clCreateProgramWithSource", status);
    status = api_.clBuildProgram(program, 1, &device_, build_options, nullptr, nullptr);
    if (status == success) return program;
    const std::string log = build_log(api_, program, device_);
    api_.clReleaseProgram(program);
    simt::fail_build(key, folder, name_,
                     text("clBuildProgram ", build_options, ": ", name_of(status)), log);
}

// Empty where the driver gives none.
std::string OpenClMachine::binary_of(ProgramId program) const {
    size_t bytes = 0;
    if (api_.clGetProgramInfo(program, program_binary_sizes, sizeof bytes, &bytes, nullptr) !=
            success ||
        bytes == 0)
        return "";
    std::string binary(bytes, '\0');
    auto* data = reinterpret_cast<unsigned char*>(binary.data());
    if (api_.clGetProgramInfo(program, program_binaries, sizeof data, &data, nullptr) != success)
        return "";
    return binary;
}

void OpenClMachine::launch(const simt::Code& code, const simt::Launch& launch) {
    refuse_forked();
    const auto& built = dynamic_cast<const OpenClCode&>(code);
    const std::lock_guard lock(built.mutex());
    const KernelId kernel = built.kernel(launch.function);
    UInt next = 0;
    const auto pass = [&](const auto& value) {
        const Status status = api_.clSetKernelArg(kernel, next, sizeof value, &value);
        if (status != success)
            fail_call(name_, text("clSetKernelArg ", next, " of ", launch.function).c_str(),
                      status);
        ++next;
    };
    for (const void* address : launch.addresses) {
        const Place place = blocks_.find(name_, address);
        pass(place.memory);
        pass(static_cast<int64_t>(place.offset));
    }
    for (const int64_t number : launch.numbers) pass(number);
    const size_t threads[2] = {static_cast<size_t>(launch.threads), 1};
    const size_t all[2] = {static_cast<size_t>(launch.groups[0] * launch.threads),
                           static_cast<size_t>(launch.groups[1])};
    if (all[0] == 0 || all[1] == 0) return;
    const Status status =
        api_.clEnqueueNDRangeKernel(queue_, kernel, 2, nullptr, all, threads, 0, nullptr, nullptr);
    if (status != success)
        fail_call(name_, text("clEnqueueNDRangeKernel of ", launch.function).c_str(), status);
    std::call_once(has_launched_, [this] { finish_before_exit(); });
}

}  // namespace composit::opencl
