// Memory, copies and events of a GPU. programs.cpp has its code.
#include "composit/backends/cuda/machine.h"

#include "composit/base/error.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace composit::cuda {
namespace {

Pointer pointer_of(const void* address) { return reinterpret_cast<Pointer>(address); }

class CudaEvent : public runtime::Event {
  public:
    CudaEvent(const CudaMachine& machine, EventId event) : machine_(machine), event_(event) {}
    ~CudaEvent() override {
        if (!machine_.is_forked()) machine_.api().cuEventDestroy_v2(event_);
    }
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;

    bool is_done() const override {
        const CudaMachine::Current current(machine_);
        const Status status = machine_.api().cuEventQuery(event_);
        if (status == not_ready) return false;
        machine_.check("cuEventQuery", status);
        return true;
    }

    void wait() const override {
        const CudaMachine::Current current(machine_);
        machine_.check("cuEventSynchronize", machine_.api().cuEventSynchronize(event_));
    }

    double seconds_since(const runtime::Event& earlier) const override {
        const auto* const other = dynamic_cast<const CudaEvent*>(&earlier);
        internal_check(other != nullptr, machine_.name(), ": the event is of another kind");
        const CudaMachine::Current current(machine_);
        float milliseconds = 0;
        machine_.check("cuEventElapsedTime",
                       machine_.api().cuEventElapsedTime(&milliseconds, other->event_, event_));
        return static_cast<double>(milliseconds) * 1e-3;
    }

  private:
    const CudaMachine& machine_;  // lives as long as the process
    EventId event_;
};

}  // namespace

int attribute_of(const Api& api, DeviceId device, int attribute) {
    int value = 0;
    return api.cuDeviceGetAttribute(&value, attribute, device) == success ? value : 0;
}

CudaMachine::CudaMachine(const Api& api, DeviceId device, int number,
                         std::shared_ptr<const Nvrtc> nvrtc)
    : api_(api),
      device_(device),
      name_(text("cuda:", number)),
      nvrtc_(std::move(nvrtc)),
      owner_(getpid()) {
    char words[256] = {};
    check("cuDeviceGetName", api.cuDeviceGetName(words, sizeof words - 1, device));
    int version = 0;
    check("cuDriverGetVersion", api.cuDriverGetVersion(&version));
    size_t bytes = 0;
    check("cuDeviceTotalMem", api.cuDeviceTotalMem_v2(&bytes, device));
    memory_bytes_ = static_cast<int64_t>(bytes);
    const int major = attribute_of(api, device, attribute_capability_major);
    const int minor = attribute_of(api, device, attribute_capability_minor);
    description_ = text(words, ", compute capability ", major, ".", minor, ", driver for CUDA ",
                        version / 1000, ".", version % 1000 / 10, ", NVRTC ", nvrtc_->major(), ".",
                        nvrtc_->minor());
    architecture_ = nvrtc_->architecture_for(10 * major + minor);
    user_check<NotSupported>(architecture_.number != 0, words, " has compute capability ", major,
                             ".", minor, ", for which NVRTC ", nvrtc_->major(), ".",
                             nvrtc_->minor(), " does not compile");
}

bool CudaMachine::is_forked() const { return getpid() != owner_; }

void CudaMachine::open() const {
    ContextId context = nullptr;
    check("cuDevicePrimaryCtxRetain", api_.cuDevicePrimaryCtxRetain(&context, device_));
    check("cuCtxPushCurrent", api_.cuCtxPushCurrent_v2(context));
    const Status status = api_.cuStreamCreate(&stream_, stream_non_blocking);
    ContextId before = nullptr;
    api_.cuCtxPopCurrent_v2(&before);
    check("cuStreamCreate", status);
    context_ = context;
}

CudaMachine::Current::Current(const CudaMachine& machine) : machine_(machine) {
    user_check<RuntimeError>(!machine.is_forked(), machine.name_,
                             ": this process was forked after the device was opened. Open devices "
                             "after the fork, or run on the CPU.");
    std::call_once(machine.opened_, [&] { machine.open(); });
    machine.check("cuCtxPushCurrent", machine.api_.cuCtxPushCurrent_v2(machine.context_));
}

CudaMachine::Current::~Current() {
    ContextId popped = nullptr;
    machine_.api_.cuCtxPopCurrent_v2(&popped);
}

int64_t CudaMachine::free_bytes() const {
    const Current current(*this);
    size_t free = 0, total = 0;
    check("cuMemGetInfo", api_.cuMemGetInfo_v2(&free, &total));
    return static_cast<int64_t>(free);
}

void* CudaMachine::allocate(int64_t bytes) {
    const Current current(*this);
    Pointer address = 0;
    const Status status =
        api_.cuMemAlloc_v2(&address, static_cast<size_t>(std::max<int64_t>(bytes, 1)));
    if (status != success) fail_call(api_, name_, text("cuMemAlloc of ", bytes, " bytes"), status);
    return reinterpret_cast<void*>(address);
}

// Waits for the work that uses the memory.
void CudaMachine::release(void* address) noexcept {
    if (address == nullptr || is_forked() || context_ == nullptr) return;
    if (api_.cuCtxPushCurrent_v2(context_) != success) return;
    api_.cuMemFree_v2(pointer_of(address));
    ContextId popped = nullptr;
    api_.cuCtxPopCurrent_v2(&popped);
}

bool CudaMachine::copy_through_staging(Pointer to, const void* from, size_t bytes) {
    const std::lock_guard lock(staging_.mutex);
    if (staging_.memory == nullptr && !staging_.was_refused) {
        void* memory = nullptr;
        staging_.was_refused =
            api_.cuMemHostAlloc(&memory, Staging::pieces * Staging::piece_bytes, 0) != success;
        for (EventId& event : staging_.read)
            if (!staging_.was_refused)
                staging_.was_refused = api_.cuEventCreate(&event, event_without_times) != success;
        if (!staging_.was_refused) staging_.memory = static_cast<char*>(memory);
    }
    if (staging_.memory == nullptr) return false;
    const size_t piece = staging_.next;
    staging_.next = (piece + 1) % Staging::pieces;
    char* const memory = staging_.memory + piece * Staging::piece_bytes;
    // An event that was never recorded is one that happened.
    check("cuEventSynchronize", api_.cuEventSynchronize(staging_.read[piece]));
    std::memcpy(memory, from, bytes);
    check("cuMemcpyHtoDAsync", api_.cuMemcpyHtoDAsync_v2(to, memory, bytes, stream_));
    check("cuEventRecord", api_.cuEventRecord(staging_.read[piece], stream_));
    return true;
}

void CudaMachine::copy_from_host(void* to, const void* from, int64_t bytes) {
    const Current current(*this);
    if (bytes <= 0) return;
    const auto count = static_cast<size_t>(bytes);
    if (count <= Staging::piece_bytes && copy_through_staging(pointer_of(to), from, count)) return;
    check("cuMemcpyHtoDAsync", api_.cuMemcpyHtoDAsync_v2(pointer_of(to), from, count, stream_));
    check("cuStreamSynchronize", api_.cuStreamSynchronize(stream_));
}

void CudaMachine::wait_for_others() {
    const Current current(*this);
    check("cuCtxSynchronize", api_.cuCtxSynchronize());
}

void CudaMachine::copy_to_host(void* to, const void* from, int64_t bytes) {
    const Current current(*this);
    if (bytes <= 0) return;
    check("cuMemcpyDtoHAsync",
          api_.cuMemcpyDtoHAsync_v2(to, pointer_of(from), static_cast<size_t>(bytes), stream_));
    check("cuStreamSynchronize", api_.cuStreamSynchronize(stream_));
}

void CudaMachine::copy(void* to, const void* from, int64_t bytes) {
    const Current current(*this);
    if (bytes <= 0 || to == from) return;
    check("cuMemcpyDtoDAsync", api_.cuMemcpyDtoDAsync_v2(pointer_of(to), pointer_of(from),
                                                         static_cast<size_t>(bytes), stream_));
}

void CudaMachine::fill_with_zeros(void* to, int64_t bytes) {
    const Current current(*this);
    if (bytes <= 0) return;
    check("cuMemsetD8Async",
          api_.cuMemsetD8Async(pointer_of(to), 0, static_cast<size_t>(bytes), stream_));
}

std::shared_ptr<runtime::Event> CudaMachine::record() {
    const Current current(*this);
    EventId event = nullptr;
    check("cuEventCreate", api_.cuEventCreate(&event, event_default));
    auto recorded = std::make_shared<CudaEvent>(*this, event);
    check("cuEventRecord", api_.cuEventRecord(event, stream_));
    return recorded;
}

void CudaMachine::synchronise() {
    const Current current(*this);
    check("cuStreamSynchronize", api_.cuStreamSynchronize(stream_));
}

}  // namespace composit::cuda
