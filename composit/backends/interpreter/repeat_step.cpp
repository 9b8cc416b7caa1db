// Repeat: the steps of its kernels, again and again.
#include "composit/backends/interpreter/step.h"
#include "composit/runtime/interrupt.h"

#include <cstring>

namespace composit::interpreter {

namespace {

using ir::kernel::Access;
using ir::kernel::Repeat;

class RepeatStep : public Step {
  public:
    RepeatStep(const Repeat& repeat, const Program& program, const KernelSet& set)
        : begin_(repeat.begin), end_(repeat.end), counter_(repeat.counter.buffer) {
        for (const auto& kernel : repeat.kernels)
            steps_.push_back(make_step(kernel.body, program, set));
    }

    void run(const Memory& memory, const runtime::Run& run) const override {
        for (int64_t i = begin_; i < end_; ++i) {
            runtime::check_interrupt();
            if (counter_ != Access::position)
                std::memcpy(memory[static_cast<size_t>(counter_)], &i, sizeof i);
            for (const StepRef& step : steps_) step->run(memory, run);
        }
    }

  private:
    int64_t begin_, end_;
    int counter_;
    std::vector<StepRef> steps_;
};

StepRef step_of(const Program& program, const KernelSet& set, const Repeat& repeat) {
    return std::make_unique<RepeatStep>(repeat, program, set);
}

const bool runs_repeat = steps().add<Repeat, step_of>();

}  // namespace

}  // namespace composit::interpreter
