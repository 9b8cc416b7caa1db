#include "composit/backends/opencl/blocks.h"

#include "composit/base/error.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <unistd.h>
#include <utility>

namespace composit::opencl {

void* Blocks::add(const std::string& device, MemoryId memory, int64_t bytes,
                  std::shared_ptr<void> host) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const auto count = static_cast<size_t>(bytes);
    // A page more, so that no block begins where another ends.
    const size_t reserved = (count + page - 1) / page * page + page;
    void* const address =
        mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (address == MAP_FAILED)
        fail<OutOfMemory>(device, ": ", bytes,
                          " addresses for a block of memory are not there: ", std::strerror(errno),
                          ". Fewer or smaller arrays are required.");
    const std::lock_guard lock(mutex_);
    blocks_[reinterpret_cast<uintptr_t>(address)] = {memory, count, reserved, std::move(host)};
    return address;
}

Blocks::Removed Blocks::remove(void* address) noexcept {
    const std::lock_guard lock(mutex_);
    const auto place = blocks_.find(reinterpret_cast<uintptr_t>(address));
    if (place == blocks_.end()) return {};
    const Block block = std::move(place->second);
    blocks_.erase(place);
    munmap(address, block.reserved);
    return {block.memory, block.host};
}

Place Blocks::find(const std::string& device, const void* address) const {
    if (address == nullptr) return {};
    const auto wanted = reinterpret_cast<uintptr_t>(address);
    const std::lock_guard lock(mutex_);
    auto place = blocks_.upper_bound(wanted);
    internal_check(place != blocks_.begin(), device, ": the address ", wanted, " is in no block");
    --place;
    const size_t offset = wanted - place->first;
    internal_check(offset <= place->second.bytes, device, ": the address ", wanted,
                   " is in no block");
    return {place->second.memory, offset};
}

}  // namespace composit::opencl
