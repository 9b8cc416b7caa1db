// A device of one file: memory that the host cannot reach, and a back end whose programs run there.
// The memory is the process's own, closed (mprotect) unless the device is at work on it: a host
// that reads it stops at once. Kernels are left to the interpreter, which works inside of the
// fence.
//
//     c++ -std=c++20 -O2 -shared -fPIC -I INCLUDE apart.cpp -o apart.so LIBCOMPOSIT
//     python -m composit.conformance apart --load apart.so
//
// From here: allocate on your hardware, copy with its driver, and compile kernels for it.
#include <composit/base/error.h>
#include <composit/runtime/backend.h>
#include <composit/runtime/device.h>
#include <sys/mman.h>

#include <chrono>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace runtime = composit::runtime;
using composit::ir::kernel::Kernel;
using composit::ir::kernel::Program;

namespace {

// Work is done when it is asked for, so everything before an event is.
class Event : public runtime::Event {
  public:
    bool is_done() const override { return true; }
    void wait() const override {}
    double seconds_since(const runtime::Event& earlier) const override {
        const auto& first = static_cast<const Event&>(earlier);
        return std::chrono::duration<double>(time_ - first.time_).count();
    }

  private:
    std::chrono::steady_clock::time_point time_ = std::chrono::steady_clock::now();
};

class Apart : public runtime::Device {
  public:
    std::string name() const override { return "apart:0"; }
    std::string description() const override { return "memory behind a fence"; }
    int64_t memory_bytes() const override { return int64_t{1} << 30; }
    int64_t free_bytes() const override {
        const std::lock_guard lock(mutex_);
        return memory_bytes() - held_;
    }

    void* allocate(int64_t bytes) override {
        const std::lock_guard lock(mutex_);
        const int64_t pages = (bytes + page - 1) / page * page;
        void* const block = pages > memory_bytes() - held_
                                ? MAP_FAILED
                                : mmap(nullptr, static_cast<size_t>(pages), access(),
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            composit::fail<composit::OutOfMemory>("apart:0: ", bytes, " bytes are not available.");
        blocks_[block] = pages;
        held_ += pages;
        return block;
    }
    void release(void* address) noexcept override {
        const std::lock_guard lock(mutex_);
        const auto block = blocks_.find(address);
        munmap(address, static_cast<size_t>(block->second));
        held_ -= block->second;
        blocks_.erase(block);
    }

    void copy_from_host(void* to, const void* from, int64_t bytes) override {
        copy(to, from, bytes);
    }
    void copy_to_host(void* to, const void* from, int64_t bytes) override { copy(to, from, bytes); }
    void copy(void* to, const void* from, int64_t bytes) override {
        work([&] { std::memcpy(to, from, static_cast<size_t>(bytes)); });
    }
    void fill_with_zeros(void* to, int64_t bytes) override {
        work([&] { std::memset(to, 0, static_cast<size_t>(bytes)); });
    }
    std::shared_ptr<runtime::Event> record() override { return std::make_shared<Event>(); }
    void synchronise() override {}

    // Opens the memory while `task` runs. No lock is held meanwhile: a run may wait for that of
    // Python's interpreter, which a thread that asks for memory may hold.
    template <class Task>
    void work(const Task& task) {
        struct Opened {
            Apart& device;
            explicit Opened(Apart& device) : device(device) { device.count_task(1); }
            ~Opened() { device.count_task(-1); }
        };
        const Opened opened(*this);
        task();
    }

  private:
    static constexpr int64_t page = 4096;

    int access() const { return tasks_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE; }
    void count_task(int change) {
        const std::lock_guard lock(mutex_);
        if (std::exchange(tasks_, tasks_ + change) > 0 && tasks_ > 0) return;  // others are at work
        for (const auto& [block, bytes] : blocks_)
            mprotect(block, static_cast<size_t>(bytes), access());
    }

    mutable std::mutex mutex_;
    std::map<void*, int64_t> blocks_;
    int64_t held_ = 0;
    int tasks_ = 0;  // at work now
};

class ApartExecutable : public runtime::Executable {
  public:
    ApartExecutable(std::shared_ptr<Apart> device, std::shared_ptr<runtime::Executable> inner)
        : device_(std::move(device)), inner_(std::move(inner)) {}
    void run(const runtime::Run& run) const override {
        device_->work([&] { inner_->run(run); });
    }

  private:
    std::shared_ptr<Apart> device_;
    std::shared_ptr<runtime::Executable> inner_;
};

class ApartBackend : public runtime::Backend {
  public:
    std::string name() const override { return device_->name(); }
    std::shared_ptr<runtime::Device> device() const override { return device_; }
    std::optional<std::string> refuses(const Kernel& kernel,
                                       const Program& program) const override {
        return runtime::backend("interpreter")->refuses(kernel, program);
    }
    std::shared_ptr<runtime::Executable> compile(const Program& program,
                                                 const runtime::CompileOptions& options) override {
        return std::make_shared<ApartExecutable>(
            device_, runtime::backend("interpreter")->compile(program, options));
    }

  private:
    std::shared_ptr<Apart> device_ = std::make_shared<Apart>();
};

const bool is_registered = (runtime::register_backend(std::make_shared<ApartBackend>()), true);

}  // namespace
