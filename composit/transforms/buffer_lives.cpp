#include "composit/transforms/buffer_lives.h"

#include <algorithm>
#include <utility>

namespace composit::transforms {
namespace {

using ir::kernel::Kernel;
using ir::kernel::Program;

class Lives {
  public:
    explicit Lives(const Program& program) : lives_(program.buffers.size()) {
        for (const Kernel& kernel : program.kernels) visit(kernel);
        for (const auto& [start, end] : repeats_)  // inner ones come before those around them
            for (BufferLife& life : lives_) {
                const bool begins = life.first >= start && life.first <= end,
                           ends = life.last >= start && life.last <= end;
                if (life.first < start && ends) life.last = end;
                if (begins && life.last > end) life.first = start;
                // Touched by the first step, which sets the counter.
                if (begins && life.first == start) life.last = std::max(life.last, end);
            }
    }

    const std::vector<BufferLife>& lives() const { return lives_; }
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
            BufferLife& life = lives_[static_cast<size_t>(b)];
            if (life.first < 0) life.first = step;
            life.last = step;
        }
    }

    std::vector<BufferLife> lives_;
    std::vector<std::pair<int, int>> repeats_;  // first and last step
    int step_ = 0;
};

}  // namespace

BufferLives lives_of(const Program& program) {
    const Lives lives(program);
    return {lives.lives(), lives.steps()};
}

}  // namespace composit::transforms
