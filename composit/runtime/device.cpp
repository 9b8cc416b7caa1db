// Blocks of devices' memory: kept after use, counted, copied to.
#include "composit/runtime/device.h"

#include "composit/base/error.h"
#include "composit/runtime/backend.h"

#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace composit::runtime {
namespace {

constexpr int64_t granule = 512;

// Few sizes, so that a block fits the next that is asked for: within an eighth above what is used.
int64_t rounded(int64_t bytes) {
    int64_t step = granule;
    while (step * 16 <= bytes) step *= 2;
    return (std::max<int64_t>(bytes, 1) + step - 1) / step * step;
}

class Pool {
  public:
    void* take(Device& device, int64_t bytes, const std::string& name) {
        {
            const std::lock_guard lock(mutex_);
            const auto found = kept_.find(bytes);
            if (found != kept_.end() && !found->second.empty()) {
                void* const block = found->second.back();
                found->second.pop_back();
                figures_.kept -= bytes;
                hold(bytes);
                return block;
            }
        }
        void* block = nullptr;
        try {
            block = device.allocate(bytes);
        } catch (const OutOfMemory&) {
            give_back(device);
            block = try_again(device, bytes, name);
        }
        const std::lock_guard lock(mutex_);
        hold(bytes);
        return block;
    }

    // False where memory to note it by has ended.
    bool keep(void* block, int64_t bytes) noexcept {
        const std::lock_guard lock(mutex_);
        figures_.held -= bytes;
        try {
            kept_[bytes].push_back(block);
        } catch (const std::bad_alloc&) {
            return false;
        }
        figures_.kept += bytes;
        return true;
    }

    void give_back(Device& device) {
        std::map<int64_t, std::vector<void*>> blocks;
        {
            const std::lock_guard lock(mutex_);
            blocks.swap(kept_);
            figures_.kept = 0;
        }
        if (blocks.empty()) return;
        device.synchronise();  // the queue may still use them
        for (const auto& [bytes, list] : blocks)
            for (void* block : list) device.release(block);
    }

    MemoryFigures figures() {
        const std::lock_guard lock(mutex_);
        return figures_;
    }
    void forget_most() {
        const std::lock_guard lock(mutex_);
        figures_.most_held = figures_.held;
    }

  private:
    void hold(int64_t bytes) {
        figures_.held += bytes;
        figures_.most_held = std::max(figures_.most_held, figures_.held);
    }

    void* try_again(Device& device, int64_t bytes, const std::string& name) {
        try {
            return device.allocate(bytes);
        } catch (const OutOfMemory&) {
            const int64_t free = device.free_bytes();
            fail<OutOfMemory>(name, ": ", bytes, " bytes of ", device.name(),
                              " are not available: ", figures().held, " of ", device.memory_bytes(),
                              " are held by arrays", free < 0 ? "" : text(", ", free, " are free"),
                              ". Free arrays there, use smaller ones, or run on the cpu.");
        }
    }

    std::mutex mutex_;
    std::map<int64_t, std::vector<void*>> kept_;  // by size
    MemoryFigures figures_;
};

// Never destroyed: arrays may die while the process ends.
Pool& pool_of(const std::string& device) {
    static auto& mutex = *new std::mutex;
    static auto& pools = *new std::unordered_map<std::string, Pool>;
    const std::lock_guard lock(mutex);
    return pools[device];
}

}  // namespace

DeviceMemory::DeviceMemory(std::shared_ptr<Device> device, void* address, int64_t bytes)
    : device_(std::move(device)), name_(device_->name()), address_(address), bytes_(bytes) {}

std::shared_ptr<DeviceMemory> DeviceMemory::allocate(const std::shared_ptr<Device>& device,
                                                     int64_t bytes, const std::string& name) {
    Pool& pool = pool_of(device->name());
    const int64_t block = rounded(bytes);
    void* const address = pool.take(*device, block, name);
    try {
        return std::shared_ptr<DeviceMemory>(new DeviceMemory(device, address, bytes));
    } catch (...) {
        if (!pool.keep(address, block)) device->release(address);
        throw;
    }
}

DeviceMemory::~DeviceMemory() {
    if (!pool_of(name_).keep(address_, rounded(bytes_))) device_->release(address_);
}

void DeviceMemory::copy_to_host(void* memory) const {
    device_->copy_to_host(memory, address_, bytes_);
}

namespace {

class SharedMemory : public ir::RemoteMemory {
  public:
    SharedMemory(std::shared_ptr<Device> device, void* address, int64_t bytes,
                 std::shared_ptr<const void> owner)
        : device_(std::move(device)),
          name_(device_->name()),
          address_(address),
          bytes_(bytes),
          owner_(std::move(owner)) {}
    ~SharedMemory() override {
        try {
            device_->wait_for_others();
            device_->synchronise();
        } catch (const Error&) {
            // A device that has failed, or that belongs to another process: nothing runs there.
        }
    }

    void* address() const override { return address_; }
    int64_t bytes() const override { return bytes_; }
    const std::string& device() const override { return name_; }
    bool is_shared() const override { return true; }

  private:
    void copy_to_host(void* memory) const override {
        device_->wait_for_others();
        device_->copy_to_host(memory, address_, bytes_);
    }

    std::shared_ptr<Device> device_;
    std::string name_;
    void* address_;
    int64_t bytes_;
    std::shared_ptr<const void> owner_;
};

}  // namespace

std::shared_ptr<ir::RemoteMemory> shared_memory(std::shared_ptr<Device> device, void* address,
                                                int64_t bytes, std::shared_ptr<const void> owner) {
    return std::make_shared<SharedMemory>(std::move(device), address, bytes, std::move(owner));
}

MemoryFigures memory_figures(const std::string& device) { return pool_of(device).figures(); }
void give_back_kept_memory(const std::string& name) {
    pool_of(name).give_back(*runtime::device(name));
}
void forget_most_held(const std::string& device) { pool_of(device).forget_most(); }

namespace {

std::shared_ptr<ir::RemoteMemory> memory_on(const std::shared_ptr<Device>& device,
                                            const ir::ConstantArray& constant) {
    if (const auto remote = constant.remote();
        remote && remote->is_shared() && remote->device() == device->name())
        device->wait_for_others();
    return constant.on_device(device->name(), [&](const void* row_major) {
        auto made = DeviceMemory::allocate(device, constant.bytes(), "constant");
        if (constant.bytes() > 0)
            device->copy_from_host(made->address(), row_major, constant.bytes());
        return made;
    });
}

}  // namespace

std::shared_ptr<const void> address_on(const std::shared_ptr<Device>& device,
                                       const ir::ConstantArray& constant) {
    const std::shared_ptr<ir::RemoteMemory> memory = memory_on(device, constant);
    return {memory, memory->address()};
}

ir::Array value_on(const std::shared_ptr<Device>& device, const ir::ConstantArray& constant) {
    return {constant.dtype(), constant.shape(), memory_on(device, constant)};
}

ir::Array array_on(const std::shared_ptr<Device>& device, ir::DType dtype, ir::Shape shape) {
    const int64_t bytes = ir::element_count(shape) * ir::size_of(dtype);
    return {dtype, std::move(shape), DeviceMemory::allocate(device, bytes, "array")};
}

namespace {

bool lies_on(const Device& device, const ir::Array& array) {
    return array.is_remote() && array.remote()->device() == device.name();
}

}  // namespace

ir::Array copied_to(const std::shared_ptr<Device>& device, const ir::Array& array) {
    return lies_on(*device, array) && !array.is_borrowed() ? array : copy_on(device, array);
}

ir::Array copy_on(const std::shared_ptr<Device>& device, const ir::Array& array) {
    ir::Array copy = array_on(device, array.dtype(), array.shape());
    void* const to = copy.remote()->address();
    if (array.bytes() == 0) return copy;
    if (!lies_on(*device, array)) {
        device->copy_from_host(to, array.on_host().data(), array.bytes());
        return copy;
    }
    if (array.is_borrowed()) device->wait_for_others();
    device->copy(to, array.remote()->address(), array.bytes());
    return copy;
}

std::vector<std::string> device_names() {
    std::vector<std::string> names = backend_names();
    std::erase_if(names, [](const std::string& name) { return !backend(name)->device(); });
    return names;
}

std::shared_ptr<Device> device(const std::string& name) {
    std::shared_ptr<Backend> found;
    try {
        found = backend(name);
    } catch (const KeyError&) {
        std::vector<std::string> here = device_names();
        here.insert(here.begin(), "cpu");
        const std::string why = why_no_more(name.substr(0, name.find(':')));
        fail<ValueError>("device: there is no '", name, "'", why.empty() ? "" : " (" + why + ")",
                         ". Available: ", join(here), ".");
    }
    auto device = found->device();
    user_check(device != nullptr, "device: '", name,
               "' is a back end that runs in host memory. The name of a device is required.");
    return device;
}

}  // namespace composit::runtime
