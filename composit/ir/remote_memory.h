// Memory that the host cannot read: that of a device (runtime/device.h).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

namespace composit::ir {

// A block of a device's memory, freed with its last owner. Arrays that lie on a device own one.
class RemoteMemory {
  public:
    RemoteMemory() = default;
    RemoteMemory(const RemoteMemory&) = delete;
    RemoteMemory& operator=(const RemoteMemory&) = delete;
    virtual ~RemoteMemory() = default;

    virtual void* address() const = 0;  // on the device: the host can add to it, and not read there
    virtual int64_t bytes() const = 0;
    virtual const std::string& device() const = 0;  // its name: "cuda:0"

    // Others can write there, at any time.
    virtual bool is_shared() const { return false; }

    // The bytes in host memory. The first call copies them, once the device has computed them; the
    // copy lives as long as this block. Of memory that is shared, each call makes another copy.
    // Safe in any thread.
    std::shared_ptr<void> on_host() const;
    bool is_on_host() const;  // whether the next call returns a copy that is there

  private:
    virtual void copy_to_host(void* memory) const = 0;

    mutable std::mutex mutex_;
    mutable std::shared_ptr<void> host_;
};

}  // namespace composit::ir
