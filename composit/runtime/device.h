// The device contract: a place with memory of its own, and a queue of work on it.
//
// A back end whose programs run on a device says so by Backend::device(). The inputs and outputs of
// its runs are addresses on that device. Whoever adds a device writes the functions of Device and
// registers the back end; arrays, copies, pools of memory and error texts are made from them here.
#pragma once

#include "composit/ir/array.h"
#include "composit/ir/constant_array.h"
#include "composit/ir/remote_memory.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace composit::runtime {

// A point in a device's queue.
class Event {
  public:
    virtual ~Event() = default;
    virtual bool is_done() const = 0;  // whether all work asked for before it is
    virtual void wait() const = 0;
    // Seconds on the device's clock between `earlier`, of the same device, and this event. Both are
    // done.
    virtual double seconds_since(const Event& earlier) const = 0;
};

// All functions are safe in any thread. Work is asked for, not waited for: it is done in the order
// of the calls. Errors: OutOfMemory, RuntimeError with the driver's name for the fault.
class Device {
  public:
    virtual ~Device() = default;
    virtual std::string name() const = 0;         // its kind and number: "cuda:0"
    virtual std::string description() const = 0;  // for people: "NVIDIA H100 80GB HBM3, driver 580"
    virtual int64_t memory_bytes() const = 0;     // in all
    virtual int64_t free_bytes() const = 0;       // -1: the driver does not say

    // An address with `bytes` bytes behind it (at least one), aligned to 256. Sums of an address
    // and a number of bytes within them are addresses too. No two blocks, of any device or of the
    // host, share an address. Slow: use DeviceMemory.
    virtual void* allocate(int64_t bytes) = 0;
    virtual void release(void* address) noexcept = 0;

    // `from` has been read when it returns.
    virtual void copy_from_host(void* to, const void* from, int64_t bytes) = 0;
    // Waits for the queue; the bytes are in `to` when it returns.
    virtual void copy_to_host(void* to, const void* from, int64_t bytes) = 0;
    virtual void copy(void* to, const void* from, int64_t bytes) = 0;  // both on this device
    virtual void fill_with_zeros(void* to, int64_t bytes) = 0;

    virtual std::shared_ptr<Event> record() = 0;  // an event behind everything asked for
    virtual void synchronise() = 0;               // waits for everything asked for
    // Waits for everything that other libraries of the process asked the device for, too, where
    // they can share it: before memory is read that they can write.
    virtual void wait_for_others() {}
};

// A block of a device's memory. Blocks that were freed are kept for the next of their size, since
// the queue uses them one after the other.
class DeviceMemory : public ir::RemoteMemory {
  public:
    // OutOfMemory: "NAME: 4096 bytes of DEVICE are not available …", after blocks that are kept
    // were given back.
    static std::shared_ptr<DeviceMemory> allocate(const std::shared_ptr<Device>& device,
                                                  int64_t bytes, const std::string& name);
    ~DeviceMemory() override;

    void* address() const override { return address_; }
    int64_t bytes() const override { return bytes_; }
    const std::string& device() const override { return name_; }

  private:
    DeviceMemory(std::shared_ptr<Device> device, void* address, int64_t bytes);
    void copy_to_host(void* memory) const override;

    std::shared_ptr<Device> device_;
    std::string name_;
    void* address_;
    int64_t bytes_;
};

// What blocks of a device take: those that are held, the most there ever were, those kept for
// later.
struct MemoryFigures {
    int64_t held = 0, most_held = 0, kept = 0;
};
MemoryFigures memory_figures(const std::string& device);
void give_back_kept_memory(const std::string& device);
void forget_most_held(const std::string& device);

// Where a constant's elements lie on the device, in row-major order: where they are, or a copy that
// is made once and lives as long as the constant.
std::shared_ptr<const void> address_on(const std::shared_ptr<Device>& device,
                                       const ir::ConstantArray& constant);
// The same as an array.
ir::Array value_on(const std::shared_ptr<Device>& device, const ir::ConstantArray& constant);
// An array of uninitialised memory of the device; a copy of `array` there, or itself where it lies
// there in memory that nobody writes.
ir::Array array_on(const std::shared_ptr<Device>& device, ir::DType dtype, ir::Shape shape);
ir::Array copied_to(const std::shared_ptr<Device>& device, const ir::Array& array);
// A copy in memory of its own, wherever the array lies.
ir::Array copy_on(const std::shared_ptr<Device>& device, const ir::Array& array);

// Memory of the device that others read and write, too: another library's, or memory of an array
// that was given to one. `owner` keeps it alive, and goes when this does, after all work that was
// asked for by then.
std::shared_ptr<ir::RemoteMemory> shared_memory(std::shared_ptr<Device> device, void* address,
                                                int64_t bytes, std::shared_ptr<const void> owner);

// The names of the devices among the back ends that are registered, or were opened.
std::vector<std::string> device_names();
// The device of that name, "cuda" for "cuda:0". ValueError: "device: there is no …", with what
// there is and why a device of that kind is not.
std::shared_ptr<Device> device(const std::string& name);

}  // namespace composit::runtime
