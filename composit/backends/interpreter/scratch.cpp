// Blocks of memory per thread, used like a stack.
#include "composit/backends/interpreter/scratch.h"

#include "composit/ir/array.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace composit::interpreter {

namespace {

constexpr int64_t least_block = int64_t{1} << 18;

struct Block {
    std::shared_ptr<void> memory;
    int64_t bytes = 0;
};

struct Stack {
    std::vector<Block> blocks;
    int64_t block = 0, used = 0;  // bytes used of blocks[block]; later blocks are free
};

Stack& stack() {
    thread_local Stack instance;
    return instance;
}

}  // namespace

ScratchScope::ScratchScope() : block_(stack().block), used_(stack().used) {}

ScratchScope::~ScratchScope() {
    stack().block = block_;
    stack().used = used_;
}

char* ScratchScope::take(int64_t bytes) {
    Stack& s = stack();
    bytes = (bytes + 63) / 64 * 64;
    while (s.block < static_cast<int64_t>(s.blocks.size()) &&
           s.used + bytes > s.blocks[static_cast<size_t>(s.block)].bytes) {
        ++s.block;
        s.used = 0;
    }
    if (s.block == static_cast<int64_t>(s.blocks.size())) {
        const int64_t size = std::max(bytes, least_block << std::min<size_t>(s.blocks.size(), 8));
        s.blocks.push_back({ir::allocate_aligned(size), size});
    }
    char* const memory =
        static_cast<char*>(s.blocks[static_cast<size_t>(s.block)].memory.get()) + s.used;
    s.used += bytes;
    return memory;
}

}  // namespace composit::interpreter
