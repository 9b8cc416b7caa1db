// Temporaries placed in one arena: two whose lives do not overlap may share bytes.
#include "composit/base/error.h"
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

// When each buffer is first and last touched, in steps: kernels in the order in which they run,
// those of a Repeat behind a step of its own, for its counter. What an iteration leaves to the
// next, and what comes from outside or is read there, lives as long as the Repeat.
class Lives {
  public:
    struct Life {
        int first = -1, last = -1;
    };

    explicit Lives(const Program& program) : lives_(program.buffers.size()) {
        for (const Kernel& kernel : program.kernels) visit(kernel);
        for (const auto& [start, end] : repeats_)  // inner ones come before those around them
            for (Life& life : lives_) {
                const bool begins = life.first >= start && life.first <= end,
                           ends = life.last >= start && life.last <= end;
                if (life.first < start && ends) life.last = end;
                if (begins && life.last > end) life.first = start;
                // Touched by the first step, which sets the counter.
                if (begins && life.first == start) life.last = std::max(life.last, end);
            }
    }

    const std::vector<Life>& lives() const { return lives_; }
    int steps() const { return step_; }

  private:
    void visit(const Kernel& kernel) {
        const int step = step_++;
        const auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body);
        if (repeat == nullptr) {
            touch(ir::kernel::buffers_read(kernel), step);
            touch(ir::kernel::buffers_written(kernel), step);
            return;
        }
        touch({repeat->counter.buffer}, step);
        for (const Kernel& inner : repeat->kernels) visit(inner);
        repeats_.emplace_back(step, step_ - 1);
    }

    void touch(const std::vector<int>& buffers, int step) {
        for (int b : buffers) {
            if (b < 0) continue;
            Life& life = lives_[static_cast<size_t>(b)];
            if (life.first < 0) life.first = step;
            life.last = step;
        }
    }

    std::vector<Life> lives_;
    std::vector<std::pair<int, int>> repeats_;  // first and last step
    int step_ = 0;
};

}  // namespace

Program plan_buffers(Program program, bool reuse) {
    const Lives lives(program);
    const auto steps = static_cast<size_t>(lives.steps());
    std::vector<std::vector<int>> born(steps), dead(steps);
    for (size_t b = 0; b < program.buffers.size(); ++b) {
        const Lives::Life& life = lives.lives()[b];
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
