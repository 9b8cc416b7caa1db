// Code of a GPU: compiled by NVRTC, or read from the cache, and launched.
#include "composit/backends/cuda/machine.h"
#include "composit/backends/simt/dialect.h"
#include "composit/base/error.h"

#include <map>
#include <optional>
#include <utility>

namespace composit::cuda {
namespace {

class CudaCode : public simt::Code {
  public:
    CudaCode(const CudaMachine& machine, ModuleId module, std::string command)
        : machine_(machine), module_(module), command_(std::move(command)) {}
    ~CudaCode() override {
        if (machine_.is_forked()) return;
        try {
            const CudaMachine::Current current(machine_);
            machine_.api().cuModuleUnload(module_);
        } catch (const Error&) {
            // The driver is gone, and the module with it.
        }
    }
    CudaCode(const CudaCode&) = delete;
    CudaCode& operator=(const CudaCode&) = delete;

    std::string build_command() const override { return command_; }

    // With the machine's context current.
    FunctionId function(const std::string& name) const {
        const std::lock_guard lock(mutex_);
        const auto place = functions_.find(name);
        if (place != functions_.end()) return place->second;
        FunctionId found = nullptr;
        machine_.check(text("cuModuleGetFunction of ", name).c_str(),
                       machine_.api().cuModuleGetFunction(&found, module_, name.c_str()));
        functions_[name] = found;
        return found;
    }

  private:
    const CudaMachine& machine_;  // lives as long as the process
    ModuleId module_;
    std::string command_;
    mutable std::mutex mutex_;
    mutable std::map<std::string, FunctionId> functions_;
};

std::string command_of(const Architecture& architecture) {
    std::string command = "nvrtc " + architecture.option();
    for (const std::string& option : compile_options()) command += " " + option;
    return command;
}

}  // namespace

const simt::Dialect& CudaMachine::dialect() const { return simt::cuda(); }

std::shared_ptr<simt::Code> CudaMachine::build(const std::string& text,
                                               const std::string& cache_folder) {
    {
        const Current current(*this);
    }  // a forked process, or no context: before any work
    return loaded_.find_or_build(text, [&] { return build_now(text, cache_folder); });
}

std::shared_ptr<simt::Code> CudaMachine::build_now(const std::string& text,
                                                   const std::string& folder) {
    const std::string command = command_of(architecture_);
    const simt::BinaryKey key{
        "cuda",
        composit::text("nvrtc ", nvrtc_->major(), ".", nvrtc_->minor(), "\ncommand ", command),
        text};
    if (const std::optional<std::string> binary = simt::cached_binary(key, folder))
        if (std::shared_ptr<simt::Code> code = loaded(*binary)) return code;
    const Compilation compiled = nvrtc_->compile(text, architecture_);
    if (!compiled.is_done) simt::fail_build(key, folder, name_, command, compiled.log);
    std::shared_ptr<simt::Code> code = loaded(compiled.code);
    if (code == nullptr)
        simt::fail_build(key, folder, name_, command,
                         "The driver does not load what NVRTC made: it is older than NVRTC.");
    simt::cache_binary(key, folder, compiled.code);
    return code;
}

// Null where the driver does not take the code.
std::shared_ptr<simt::Code> CudaMachine::loaded(const std::string& code) const {
    constexpr Status first_of_images = 200, last_of_images = 225;
    const Current current(*this);
    ModuleId module = nullptr;
    const Status status = api_.cuModuleLoadData(&module, code.data());
    if (status >= first_of_images && status <= last_of_images) return nullptr;
    check("cuModuleLoadData", status);
    return std::make_shared<CudaCode>(*this, module, command_of(architecture_));
}

void CudaMachine::launch(const simt::Code& code, const simt::Launch& launch) {
    const Current current(*this);
    if (launch.groups[0] <= 0 || launch.groups[1] <= 0) return;
    const FunctionId function = dynamic_cast<const CudaCode&>(code).function(launch.function);
    std::vector<Pointer> values;
    for (const void* address : launch.addresses)
        values.push_back(reinterpret_cast<Pointer>(address));
    for (const int64_t number : launch.numbers) values.push_back(static_cast<Pointer>(number));
    std::vector<void*> parameters;
    for (Pointer& value : values) parameters.push_back(&value);
    const auto size = [](int64_t count) { return static_cast<unsigned>(count); };
    const Status status =
        api_.cuLaunchKernel(function, size(launch.groups[0]), size(launch.groups[1]), 1,
                            size(launch.threads), 1, 1, 0, stream_, parameters.data(), nullptr);
    if (status != success)
        fail_call(api_, name_, text("cuLaunchKernel of ", launch.function), status);
}

}  // namespace composit::cuda
