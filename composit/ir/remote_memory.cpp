#include "composit/ir/remote_memory.h"

#include "composit/ir/array.h"

namespace composit::ir {

std::shared_ptr<void> RemoteMemory::on_host() const {
    const std::lock_guard lock(mutex_);
    if (!host_ || is_shared()) {
        std::shared_ptr<void> copy = allocate_aligned(bytes());
        if (bytes() > 0) copy_to_host(copy.get());
        host_ = std::move(copy);
    }
    return host_;
}

bool RemoteMemory::is_on_host() const {
    const std::lock_guard lock(mutex_);
    return host_ != nullptr && !is_shared();
}

}  // namespace composit::ir
