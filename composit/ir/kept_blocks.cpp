// A short list of blocks behind a lock; which are freed, and when.
#include "composit/ir/kept_blocks.h"

#include <cstdint>
#include <cstdlib>
#include <list>
#include <mutex>

namespace composit::ir {
namespace {

struct Block {
    void* data;
    size_t bytes;
};

struct KeptBlocks {
    std::mutex mutex;
    std::list<Block> blocks;  // the newest first
    size_t bytes = 0;
};

// Never destroyed: arrays may be freed after static objects.
KeptBlocks& kept_blocks() {
    static KeptBlocks& kept = *new KeptBlocks;
    return kept;
}

}  // namespace

void* take_kept_block(size_t& bytes, size_t alignment) {
    KeptBlocks& kept = kept_blocks();
    const std::lock_guard lock(kept.mutex);
    for (auto block = kept.blocks.begin(); block != kept.blocks.end(); ++block) {
        const bool fits = block->bytes >= bytes && block->bytes - bytes <= bytes / 8;
        if (!fits || reinterpret_cast<uintptr_t>(block->data) % alignment != 0) continue;
        void* const data = block->data;
        bytes = block->bytes;
        kept.bytes -= block->bytes;
        kept.blocks.erase(block);
        return data;
    }
    return nullptr;
}

void keep_block(void* block, size_t bytes) {
    if (bytes < least_kept_block || bytes > most_kept_bytes) return std::free(block);
    KeptBlocks& kept = kept_blocks();
    const std::lock_guard lock(kept.mutex);
    kept.blocks.push_front({block, bytes});
    kept.bytes += bytes;
    while (kept.bytes > most_kept_bytes) {
        kept.bytes -= kept.blocks.back().bytes;
        std::free(kept.blocks.back().data);
        kept.blocks.pop_back();
    }
}

}  // namespace composit::ir
