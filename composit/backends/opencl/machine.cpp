// Memory, copies and events of an OpenCL device. programs.cpp has its code.
#include "composit/backends/opencl/machine.h"

#include "composit/base/error.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace composit::opencl {
namespace {

class OpenClEvent : public runtime::Event {
  public:
    OpenClEvent(const Api& api, std::string device, EventId event)
        : api_(api), device_(std::move(device)), event_(event) {}
    ~OpenClEvent() override { api_.clReleaseEvent(event_); }
    OpenClEvent(const OpenClEvent&) = delete;
    OpenClEvent& operator=(const OpenClEvent&) = delete;

    bool is_done() const override {
        Status status = 0;
        check_call(device_, "clGetEventInfo",
                   api_.clGetEventInfo(event_, event_status, sizeof status, &status, nullptr));
        if (status < 0) fail_call(device_, "work in the queue", status);
        return status == event_complete;
    }

    void wait() const override {
        check_call(device_, "clWaitForEvents", api_.clWaitForEvents(1, &event_));
    }

    double seconds_since(const runtime::Event& earlier) const override {
        const auto* const other = dynamic_cast<const OpenClEvent*>(&earlier);
        internal_check(other != nullptr, device_, ": the event is of another kind of device");
        const auto nanoseconds = static_cast<int64_t>(end() - other->end());
        return static_cast<double>(nanoseconds) * 1e-9;
    }

  private:
    ULong end() const {
        ULong time = 0;
        check_call(
            device_, "clGetEventProfilingInfo",
            api_.clGetEventProfilingInfo(event_, profiling_end, sizeof time, &time, nullptr));
        return time;
    }

    const Api& api_;
    std::string device_;
    EventId event_;
};

// The machines that may have work when the process ends.
class Running {
  public:
    static Running& all() {  // never destroyed
        static auto& machines = *new Running;
        return machines;
    }
    void add(OpenClMachine* machine) {
        const std::lock_guard lock(mutex_);
        machines_.push_back(machine);
        std::atexit([] { all().finish(); });
    }

  private:
    void finish() {
        const std::lock_guard lock(mutex_);
        for (OpenClMachine* const machine : machines_) {
            try {
                machine->synchronise();
            } catch (const Error&) {
                // It has failed, or belongs to another process: nothing runs there.
            }
        }
    }

    std::mutex mutex_;
    std::vector<OpenClMachine*> machines_;
};

}  // namespace

std::string device_text(const Api& api, DeviceId device, Info what) {
    size_t bytes = 0;
    if (api.clGetDeviceInfo(device, what, 0, nullptr, &bytes) != success || bytes == 0) return "";
    std::string text(bytes, '\0');
    if (api.clGetDeviceInfo(device, what, bytes, text.data(), nullptr) != success) return "";
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
}

OpenClMachine::OpenClMachine(const Api& api, DeviceId device, std::string name)
    : api_(api), device_(device), name_(std::move(name)), owner_(getpid()) {
    const auto bytes = [&](Info what) {
        return static_cast<int64_t>(device_value<ULong>(api, device, what));
    };
    memory_bytes_ = bytes(device_global_memory);
    most_block_bytes_ = bytes(device_max_memory_allocation);
    is_cpu_ = (device_value<ULong>(api, device, device_type) & type_cpu) != 0;
    // COMPOSIT_OPENCL_KERNELS=groups: a CPU runs what is meant for GPUs, so that it is tested.
    const char* const kernels = std::getenv("COMPOSIT_OPENCL_KERNELS");
    has_loops_ = is_cpu_ && (kernels == nullptr || std::string_view(kernels) != "groups");
    // PoCL keeps all that it compiled. To give a binary it would compile each kernel once more, for
    // groups of any size: half of the time that a program takes to build.
    const std::string version = device_text(api, device, device_version);
    driver_keeps_code_ = has_loops_ && version.find("PoCL") != std::string::npos;
    const std::string driver = device_text(api, device, driver_version);
    description_ = text(device_text(api, device, device_name), ", driver ", driver);
    identity_ = text("device ", device_text(api, device, device_name), "\nversion ", version,
                     "\ndriver ", driver);
    Status status = success;
    context_ = api.clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status);
    check("clCreateContext", status);
    queue_ = api.clCreateCommandQueue(context_, device_, profiling_queue, &status);
    check("clCreateCommandQueue", status);
}

// Drivers compile and compute in threads of their own, and exit() destroys what they use, last made
// first. The first launch is waited for: PoCL's compiler makes its statics in it, so that the
// handler is newer than they are.
void OpenClMachine::finish_before_exit() {
    synchronise();
    Running::all().add(this);
}

void OpenClMachine::refuse_forked() const {
    user_check<RuntimeError>(getpid() == owner_, name_,
                             ": this process was forked after the device was opened. Open devices "
                             "after the fork, or run on the CPU.");
}

void* OpenClMachine::allocate(int64_t bytes) {
    refuse_forked();
    const int64_t count = std::max<int64_t>(bytes, 1);
    user_check<OutOfMemory>(count <= most_block_bytes_, name_, ": ", bytes,
                            " bytes are more than a block of this device can have, which is ",
                            most_block_bytes_, ". A smaller array is required.");
    // A CPU reads host memory as it is: composit's own comes in large pages.
    const std::shared_ptr<void> host = is_cpu_ ? ir::allocate_aligned(count) : nullptr;
    Status status = success;
    const MemoryId memory = api_.clCreateBuffer(context_, host ? read_write | use_host : read_write,
                                                static_cast<size_t>(count), host.get(), &status);
    const bool is_full = status == memory_object_allocation_failure || status == out_of_resources ||
                         status == out_of_host_memory || status == invalid_buffer_size;
    user_check<OutOfMemory>(!is_full, name_, ": ", bytes,
                            " bytes of memory are not available (clCreateBuffer: ", name_of(status),
                            "). Fewer or smaller arrays are required.");
    check("clCreateBuffer", status);
    try {
        return blocks_.add(name_, memory, count, host);
    } catch (...) {
        api_.clReleaseMemObject(memory);
        throw;
    }
}

// OpenCL keeps the memory until the work that uses it is done.
void OpenClMachine::release(void* address) noexcept {
    if (address == nullptr) return;
    const Blocks::Removed removed = blocks_.remove(address);
    if (removed.memory == nullptr || getpid() != owner_) return;
    if (removed.host) api_.clFinish(queue_);  // that memory goes now
    api_.clReleaseMemObject(removed.memory);
}

void OpenClMachine::copy_from_host(void* to, const void* from, int64_t bytes) {
    refuse_forked();
    if (bytes <= 0) return;
    const Place place = blocks_.find(name_, to);
    check("clEnqueueWriteBuffer",
          api_.clEnqueueWriteBuffer(queue_, place.memory, 1, place.offset,
                                    static_cast<size_t>(bytes), from, 0, nullptr, nullptr));
}

void OpenClMachine::copy_to_host(void* to, const void* from, int64_t bytes) {
    refuse_forked();
    if (bytes <= 0) return;
    const Place place = blocks_.find(name_, from);
    check("clEnqueueReadBuffer",
          api_.clEnqueueReadBuffer(queue_, place.memory, 1, place.offset,
                                   static_cast<size_t>(bytes), to, 0, nullptr, nullptr));
}

void OpenClMachine::copy(void* to, const void* from, int64_t bytes) {
    refuse_forked();
    if (bytes <= 0 || to == from) return;
    const Place target = blocks_.find(name_, to), source = blocks_.find(name_, from);
    check("clEnqueueCopyBuffer",
          api_.clEnqueueCopyBuffer(queue_, source.memory, target.memory, source.offset,
                                   target.offset, static_cast<size_t>(bytes), 0, nullptr, nullptr));
}

void OpenClMachine::fill_with_zeros(void* to, int64_t bytes) {
    refuse_forked();
    if (bytes <= 0) return;
    const Place place = blocks_.find(name_, to);
    // The widest pattern that place and length are multiples of.
    constexpr unsigned char zeros[16] = {};
    const size_t count = static_cast<size_t>(bytes);
    const size_t pattern = (place.offset | count) % sizeof zeros == 0 ? sizeof zeros : 1;
    check("clEnqueueFillBuffer",
          api_.clEnqueueFillBuffer(queue_, place.memory, zeros, pattern, place.offset, count, 0,
                                   nullptr, nullptr));
}

std::shared_ptr<runtime::Event> OpenClMachine::record() {
    refuse_forked();
    EventId event = nullptr;
    check("clEnqueueMarkerWithWaitList",
          api_.clEnqueueMarkerWithWaitList(queue_, 0, nullptr, &event));
    auto recorded = std::make_shared<OpenClEvent>(api_, name_, event);
    check("clFlush", api_.clFlush(queue_));  // whoever polls waits for what has begun
    return recorded;
}

void OpenClMachine::synchronise() {
    refuse_forked();
    check("clFinish", api_.clFinish(queue_));
}

}  // namespace composit::opencl
