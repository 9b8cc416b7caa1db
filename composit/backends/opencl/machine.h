// A device of OpenCL 1.2 as a machine of backends/simt.
#pragma once

#include "composit/backends/opencl/api.h"
#include "composit/backends/opencl/blocks.h"
#include "composit/backends/simt/binary_cache.h"
#include "composit/backends/simt/machine.h"

#include <sys/types.h>

#include <memory>
#include <mutex>
#include <string>

namespace composit::opencl {

// One context and one queue, in order. Never destroyed while the process runs. Errors: RuntimeError
// or OutOfMemory with device, call and OpenCL's name for the fault; in a process that was forked
// since the device was opened, RuntimeError from every function.
class OpenClMachine : public simt::Machine {
  public:
    OpenClMachine(const Api& api, DeviceId device, std::string name);

    std::string name() const override { return name_; }
    std::string description() const override { return description_; }
    int64_t memory_bytes() const override { return memory_bytes_; }
    int64_t free_bytes() const override { return -1; }

    void* allocate(int64_t bytes) override;
    void release(void* address) noexcept override;
    void copy_from_host(void* to, const void* from, int64_t bytes) override;
    void copy_to_host(void* to, const void* from, int64_t bytes) override;
    void copy(void* to, const void* from, int64_t bytes) override;
    void fill_with_zeros(void* to, int64_t bytes) override;
    std::shared_ptr<runtime::Event> record() override;
    void synchronise() override;

    const simt::Dialect& dialect() const override;
    std::shared_ptr<simt::Code> build(const std::string& text,
                                      const std::string& cache_folder) override;
    void launch(const simt::Code& code, const simt::Launch& launch) override;

  private:
    void check(const char* call, Status status) const { check_call(name_, call, status); }
    void refuse_forked() const;
    void finish_before_exit();
    std::shared_ptr<simt::Code> build_now(const std::string& text, const std::string& folder);
    ProgramId from_binary(const std::string& binary) const;
    ProgramId from_text(const simt::BinaryKey& key, const std::string& folder) const;
    std::string binary_of(ProgramId program) const;

    const Api& api_;
    DeviceId device_;
    std::string name_, description_, identity_;
    int64_t memory_bytes_ = 0, most_block_bytes_ = 0;
    bool is_cpu_ = false;
    bool has_loops_ = false;          // its kernels are those of CPUs
    bool driver_keeps_code_ = false;  // on disk, by text: composit keeps no binaries then
    std::once_flag has_launched_;
    pid_t owner_;
    ContextId context_ = nullptr;
    QueueId queue_ = nullptr;
    Blocks blocks_;
    simt::LoadedCode loaded_;
};

// Values of clGetDeviceInfo; of a device that does not know what is asked 0 and "".
template <class T>
T device_value(const Api& api, DeviceId device, Info what) {
    T value{};
    return api.clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == success ? value
                                                                                       : T{};
}
std::string device_text(const Api& api, DeviceId device, Info what);

}  // namespace composit::opencl
