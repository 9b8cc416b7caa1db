// The interpreter as a back end: programs become lists of steps.
#include "composit/backends/interpreter/interpreter.h"

#include "composit/backends/interpreter/step.h"
#include "composit/base/error.h"
#include "composit/runtime/interrupt.h"
#include "composit/runtime/memory_pool.h"
#include "composit/runtime/packing.h"

#include <chrono>
#include <mutex>

namespace composit::interpreter {

namespace {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;

class InterpreterExecutable : public runtime::Executable {
  public:
    InterpreterExecutable(const Program& program, const KernelSet& set,
                          const runtime::ParallelFor& parallel_for)
        : program_(program) {
        for (size_t k = 0; k < program_.kernels.size(); ++k) {
            runtime::check_interrupt();
            StepRef step = make_step(program_.kernels[k].body, program_, set);
            if (!step) continue;
            steps_.push_back(std::move(step));
            kernel_of_step_.push_back(k);
        }
        for (const Buffer& buffer : program_.buffers)
            internal_check(buffer.kind != BufferKind::temporary || buffer.arena_offset >= 0 ||
                               buffer.bytes == 0,
                           "buffer ", buffer.name, " has no place in the arena");
        const auto panel_width = [&](bool is_left, ir::DType dtype, int64_t remaining) {
            return set.contract(dtype)->panel_width(is_left, remaining);
        };
        constants_ = runtime::memory_of_constants(program_, panel_width, parallel_for);
    }

    void run(const runtime::Run& run) const override { run_steps(run, nullptr); }

    std::vector<double> seconds_of_kernels(const runtime::Run& run) const override {
        std::vector<double> seconds(program_.kernels.size(), 0.0);
        run_steps(run, &seconds);
        return seconds;
    }

    int64_t working_bytes(int) const override { return program_.arena_bytes; }
    int64_t held_bytes() const override {
        return arenas_.bytes() + runtime::bytes_of_packed_constants(program_);
    }

  private:
    void run_steps(const runtime::Run& run, std::vector<double>* seconds) const {
        using Clock = std::chrono::steady_clock;
        internal_check(run.inputs.size() == program_.inputs.size() &&
                           run.outputs.size() == program_.outputs.size(),
                       "program ", program_.name, " was given ", run.inputs.size(), " inputs and ",
                       run.outputs.size(), " outputs instead of ", program_.inputs.size(), " and ",
                       program_.outputs.size());
        const runtime::MemoryPool::Block arena(arenas_, program_.arena_bytes);
        const Memory memory = bind(run, arena.data());
        for (size_t s = 0; s < steps_.size(); ++s) {
            runtime::check_interrupt();
            const auto start = seconds ? Clock::now() : Clock::time_point();
            steps_[s]->run(memory, run);
            if (seconds)
                (*seconds)[kernel_of_step_[s]] =
                    std::chrono::duration<double>(Clock::now() - start).count();
        }
    }

    Memory bind(const runtime::Run& run, char* arena) const {
        Memory memory(program_.buffers.size(), nullptr);
        for (size_t b = 0; b < memory.size(); ++b) {
            const Buffer& buffer = program_.buffers[b];
            memory[b] = static_cast<char*>(const_cast<void*>(constants_[b].get()));
            if (buffer.kind == BufferKind::temporary)
                memory[b] = arena + std::max<int64_t>(buffer.arena_offset, 0);
        }
        for (size_t i = 0; i < run.inputs.size(); ++i)
            memory[static_cast<size_t>(program_.inputs[i])] =
                static_cast<char*>(const_cast<void*>(run.inputs[i]));
        for (size_t i = 0; i < run.outputs.size(); ++i)
            memory[static_cast<size_t>(program_.outputs[i])] = static_cast<char*>(run.outputs[i]);
        return memory;
    }

    const Program program_;  // steps refer to it
    std::vector<StepRef> steps_;
    std::vector<size_t> kernel_of_step_;
    std::vector<std::shared_ptr<const void>> constants_;  // by buffer number
    mutable runtime::MemoryPool arenas_;
};

const bool is_registered = [] {
    runtime::register_backend(std::make_shared<InterpreterBackend>());
    return true;
}();

}  // namespace

Steps& steps() {
    static Steps table;
    return table;
}

StepRef make_step(const ir::kernel::Body& body, const Program& program, const KernelSet& set) {
    user_check<NotSupported>(
        steps().has(body), "interpreter: ", ir::kernel::kind_name(body),
        " kernels are not run. Leave the pass that makes them out of the pipeline.");
    return steps()(program, set, body);
}

InterpreterBackend::InterpreterBackend() : set_(nullptr) {}

std::optional<std::string> InterpreterBackend::refuses(const Kernel& kernel,
                                                       const Program& program) const {
    try {
        make_step(kernel.body, program, set_ ? *set_ : kernel_set());
    } catch (const NotSupported& reason) {
        return reason.what();
    }
    return std::nullopt;
}

std::shared_ptr<runtime::Executable> InterpreterBackend::compile(
    const Program& program, const runtime::CompileOptions& how) {
    return std::make_shared<InterpreterExecutable>(program, set_ ? *set_ : kernel_set(),
                                                   how.parallel_for);
}

}  // namespace composit::interpreter
