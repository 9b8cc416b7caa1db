// An NVIDIA GPU as a machine of backends/simt.
#pragma once

#include "composit/backends/cuda/api.h"
#include "composit/backends/cuda/nvrtc.h"
#include "composit/backends/simt/binary_cache.h"
#include "composit/backends/simt/machine.h"

#include <sys/types.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>

namespace composit::cuda {

// The device's primary context, which other libraries of the process use too, so that all can read
// one another's memory; and a stream of composit's own that waits for no other. Whoever hands
// memory to another library, or takes its memory, lets the queue and the other stream wait for one
// another. Context and stream are made at the first use and live as long as the process. Errors:
// RuntimeError or OutOfMemory with device, call and CUDA's name for the fault; in a process that
// was forked since the device was opened, RuntimeError from every function.
class CudaMachine : public simt::Machine {
  public:
    // `number`: as this process counts its devices.
    CudaMachine(const Api& api, DeviceId device, int number, std::shared_ptr<const Nvrtc> nvrtc);

    std::string name() const override { return name_; }
    std::string description() const override { return description_; }
    int64_t memory_bytes() const override { return memory_bytes_; }
    int64_t free_bytes() const override;

    void* allocate(int64_t bytes) override;
    void release(void* address) noexcept override;
    void copy_from_host(void* to, const void* from, int64_t bytes) override;
    void copy_to_host(void* to, const void* from, int64_t bytes) override;
    void copy(void* to, const void* from, int64_t bytes) override;
    void fill_with_zeros(void* to, int64_t bytes) override;
    std::shared_ptr<runtime::Event> record() override;
    void synchronise() override;
    void wait_for_others() override;  // for all streams of the context

    const simt::Dialect& dialect() const override;
    std::shared_ptr<simt::Code> build(const std::string& text,
                                      const std::string& cache_folder) override;
    void launch(const simt::Code& code, const simt::Launch& launch) override;

    // ----- for events and code of this machine
    const Api& api() const { return api_; }
    void check(const char* call, Status status) const {
        if (status != success) [[unlikely]]
            fail_call(api_, name_, call, status);
    }
    bool is_forked() const;

    // While it lives, the device's context is the thread's; then what was so before.
    class Current {
      public:
        explicit Current(const CudaMachine& machine);
        ~Current();
        Current(const Current&) = delete;
        Current& operator=(const Current&) = delete;

      private:
        const CudaMachine& machine_;
    };

  private:
    // Memory that the device reads directly, in pieces: copies of a few bytes do not wait.
    struct Staging {
        static constexpr size_t pieces = 8, piece_bytes = size_t{1} << 20;
        std::mutex mutex;
        char* memory = nullptr;
        bool was_refused = false;
        size_t next = 0;
        std::array<EventId, pieces> read{};  // when a piece was read
    };

    void open() const;
    bool copy_through_staging(Pointer to, const void* from, size_t bytes);
    std::shared_ptr<simt::Code> build_now(const std::string& text, const std::string& folder);
    std::shared_ptr<simt::Code> loaded(const std::string& code) const;

    const Api& api_;
    DeviceId device_;
    std::string name_, description_;
    int64_t memory_bytes_ = 0;
    std::shared_ptr<const Nvrtc> nvrtc_;
    Architecture architecture_;
    pid_t owner_;
    mutable std::once_flag opened_;
    mutable ContextId context_ = nullptr;
    mutable StreamId stream_ = nullptr;
    Staging staging_;
    simt::LoadedCode loaded_;
};

// An attribute of a device, 0 where the driver does not know it.
int attribute_of(const Api& api, DeviceId device, int attribute);

}  // namespace composit::cuda
