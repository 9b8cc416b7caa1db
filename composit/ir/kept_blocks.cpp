// A short list of blocks behind a lock; which are freed, and when.
#include "composit/ir/kept_blocks.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <list>
#include <mutex>
#include <unistd.h>

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

// A mapping of at least `bytes`, whose ends before and behind the aligned block are given back.
void* mapped_block(size_t bytes, size_t alignment) {
    static const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const size_t whole = (bytes + alignment + page - 1) / page * page;
    void* const mapping =
        mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) return nullptr;
    const auto begin = reinterpret_cast<uintptr_t>(mapping);
    const uintptr_t block = (begin + alignment - 1) / alignment * alignment;
    const uintptr_t end = (block + bytes + page - 1) / page * page;
    if (block > begin) (void)munmap(mapping, block - begin);
    if (begin + whole > end) (void)munmap(reinterpret_cast<void*>(end), begin + whole - end);
    return reinterpret_cast<void*>(block);
}

}  // namespace

void* new_block(size_t bytes, size_t alignment) {
    if (bytes >= least_mapped_block) return mapped_block(bytes, alignment);
    void* block = nullptr;
    return posix_memalign(&block, alignment, bytes) == 0 ? block : nullptr;
}

void free_block(void* block, size_t bytes) {
    if (bytes < least_mapped_block)
        std::free(block);
    else
        (void)munmap(block, bytes);
}

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
    if (bytes < least_kept_block || bytes > most_kept_bytes) return free_block(block, bytes);
    KeptBlocks& kept = kept_blocks();
    const std::lock_guard lock(kept.mutex);
    kept.blocks.push_front({block, bytes});
    kept.bytes += bytes;
    while (kept.bytes > most_kept_bytes) {
        const Block oldest = kept.blocks.back();
        kept.bytes -= oldest.bytes;
        free_block(oldest.data, oldest.bytes);
        kept.blocks.pop_back();
    }
}

}  // namespace composit::ir
