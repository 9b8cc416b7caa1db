// Temporaries placed in one arena: two whose lives do not overlap may share bytes.
#include "composit/base/error.h"
#include "composit/transforms/buffer_lives.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <map>
#include <set>

namespace composit::transforms {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;

namespace {

constexpr int64_t alignment = 64;
constexpr int64_t most_bytes = int64_t{1} << 62;  // so that no sum overflows

int64_t rounded(int64_t bytes) {
    return (std::max<int64_t>(bytes, 1) + alignment - 1) / alignment * alignment;
}

// Free ranges of an arena that grows at its end; the smallest range that fits is taken.
class Arena {
  public:
    int64_t take(int64_t bytes) {
        user_check<OutOfMemory>(bytes <= most_bytes - end_, "compile: temporaries of more than ",
                                most_bytes, " bytes together. Less is required.");
        const auto best = by_size_.lower_bound({bytes, 0});
        if (best == by_size_.end()) {
            if (!by_offset_.empty()) {  // extend the last range when it touches the end
                const auto [offset, size] = *by_offset_.rbegin();
                if (offset + size == end_) {
                    erase(offset, size);
                    end_ = offset + bytes;
                    return offset;
                }
            }
            const int64_t offset = end_;
            end_ += bytes;
            return offset;
        }
        const auto [size, offset] = *best;
        erase(offset, size);
        if (size > bytes) insert(offset + bytes, size - bytes);
        return offset;
    }

    void give_back(int64_t offset, int64_t bytes) {
        auto next = by_offset_.lower_bound(offset);
        if (next != by_offset_.end() && next->first == offset + bytes) {
            bytes += next->second;
            erase(next->first, next->second);
        }
        auto previous = by_offset_.lower_bound(offset);
        if (previous != by_offset_.begin()) {
            --previous;
            if (previous->first + previous->second == offset) {
                offset = previous->first;
                bytes += previous->second;
                erase(previous->first, previous->second);
            }
        }
        insert(offset, bytes);
    }

    int64_t end() const { return end_; }

  private:
    void insert(int64_t offset, int64_t size) {
        by_offset_.emplace(offset, size);
        by_size_.emplace(size, offset);
    }
    void erase(int64_t offset, int64_t size) {
        by_offset_.erase(offset);
        by_size_.erase({size, offset});
    }

    std::map<int64_t, int64_t> by_offset_;
    std::set<std::pair<int64_t, int64_t>> by_size_;
    int64_t end_ = 0;
};

}  // namespace

Program plan_buffers(Program program, bool reuse) {
    const BufferLives all = lives_of(program);
    const auto steps = static_cast<size_t>(all.steps);
    std::vector<std::vector<int>> born(steps), dead(steps);
    for (size_t b = 0; b < program.buffers.size(); ++b) {
        const BufferLife& life = all.lives[b];
        if (program.buffers[b].kind != BufferKind::temporary || life.first < 0) continue;
        born[static_cast<size_t>(life.first)].push_back(static_cast<int>(b));
        dead[static_cast<size_t>(life.last)].push_back(static_cast<int>(b));
    }
    Arena arena;
    for (size_t step = 0; step < steps; ++step) {
        for (int b : born[step]) {
            Buffer& buffer = program.buffers[static_cast<size_t>(b)];
            buffer.arena_offset = arena.take(rounded(buffer.bytes));
        }
        if (!reuse) continue;
        for (int b : dead[step]) {
            const Buffer& buffer = program.buffers[static_cast<size_t>(b)];
            arena.give_back(buffer.arena_offset, rounded(buffer.bytes));
        }
    }
    program.arena_bytes = arena.end();
    return program;
}

}  // namespace composit::transforms
