// Runs compiled programs: finds the pointers, shares tasks out, reports indices out of bounds.
#include "composit/backends/cpp/executable.h"

#include "composit/base/error.h"
#include "composit/runtime/interrupt.h"

#include <algorithm>

namespace composit::cpp {
namespace {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;

constexpr double work_per_chunk = 32768;  // operations and bytes; less is not worth waking a thread
constexpr int64_t chunks_per_thread = 4;  // evens out threads of different speed

int64_t rounded_up(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// About what a thread does before Ctrl-C is looked for: tens of milliseconds. A part of a
// contraction packs its operands anew, so its parts are larger.
double most_work(const Kernel& kernel) {
    return std::holds_alternative<ir::kernel::Contract>(kernel.body) ? 0x1p33 : 0x1p28;
}

// The chunks that a step's tasks are cut into: for the threads, and for interruptions.
int64_t chunk_count(int64_t tasks, double work, double most_work, int threads) {
    const double for_threads =
        threads <= 1 ? 1 : std::min<double>(threads * chunks_per_thread, work / work_per_chunk);
    const double wished = std::max({1.0, for_threads, work / most_work});
    return static_cast<int64_t>(std::min(wished, static_cast<double>(std::max<int64_t>(tasks, 1))));
}

}  // namespace

CompiledProgram::CompiledProgram(const Program& program, const c_family::Modules& modules,
                                 Compiled compiled)
    : compiled_(std::move(compiled)) {
    place_buffers(program);
    std::vector<const Entry*> entries;
    for (const auto& library : compiled_.libraries)
        entries.push_back(static_cast<const Entry*>(library->symbol(entries_symbol)));
    for (const c_family::Call& call : modules.calls.at(0)) {
        const Kernel& kernel = program.kernels[call.kernel];
        const auto& function = modules.modules[call.module].functions[call.function];
        const bool is_once = std::holds_alternative<ir::kernel::Pack>(kernel.body);
        Step step{entries[call.module][call.function],
                  function.tasks,
                  ir::kernel::flops(kernel) + ir::kernel::bytes_moved(kernel, program),
                  most_work(kernel),
                  {},
                  {}};
        for (int buffer : call.buffers) step.at.push_back(places_[static_cast<size_t>(buffer)]);
        auto add_axes = [&](const auto& body) {
            for (size_t j = 0; j < body.indices.size(); ++j)
                step.axes.push_back({body.axis_numbers[j], body.axis_lengths[j]});
        };
        if (const auto* gather = std::get_if<ir::kernel::Gather>(&kernel.body)) add_axes(*gather);
        if (const auto* scatter = std::get_if<ir::kernel::Scatter>(&kernel.body))
            add_axes(*scatter);
        if (is_once)
            run_step(step, {}, nullptr);
        else
            steps_.push_back(std::move(step));
    }
}

void CompiledProgram::place_buffers(const Program& program) {
    arena_bytes_ = rounded_up(program.arena_bytes);
    for (const Buffer& buffer : program.buffers) {
        Place place{buffer.kind, buffer.arena_offset, nullptr};
        if (buffer.kind == BufferKind::constant) {
            constants_.push_back(buffer.value);
            place.constant = buffer.value.data();
        }
        if (buffer.kind == BufferKind::packed) {
            packed_.push_back(ir::allocate_aligned(buffer.bytes));
            place.constant = packed_.back().get();
        }
        if (buffer.kind == BufferKind::temporary && buffer.arena_offset < 0) {
            place.at = arena_bytes_;  // not planned: behind those that are
            arena_bytes_ += rounded_up(buffer.bytes);
        }
        places_.push_back(place);
    }
    auto number = [&](const std::vector<int>& buffers) {
        for (size_t k = 0; k < buffers.size(); ++k)
            places_[static_cast<size_t>(buffers[k])].at = static_cast<int64_t>(k);
    };
    number(program.inputs);
    number(program.outputs);
}

void CompiledProgram::run(const runtime::Run& run) const {
    MemoryPool::Block arena(pool_, arena_bytes_);
    for (const Step& step : steps_) {
        runtime::check_interrupt();
        run_step(step, run, arena.data());
    }
}

void CompiledProgram::run_step(const Step& step, const runtime::Run& run, char* arena) const {
    std::vector<void*> at;
    for (const Place& place : step.at) {
        size_t number = static_cast<size_t>(place.at);
        switch (place.kind) {
            case BufferKind::input: at.push_back(const_cast<void*>(run.inputs[number])); break;
            case BufferKind::output: at.push_back(run.outputs[number]); break;
            case BufferKind::local:  // lies in the function's own scratch memory
            case BufferKind::packed:
            case BufferKind::constant: at.push_back(const_cast<void*>(place.constant)); break;
            case BufferKind::temporary: at.push_back(arena + place.at); break;
        }
    }
    const int64_t chunks = chunk_count(step.tasks, step.work, step.most_work, run.threads);
    std::vector<Fault> faults(step.axes.empty() ? 1 : static_cast<size_t>(chunks));
    auto run_chunk = [&](int64_t chunk) {
        MemoryPool::Block scratch(pool_, step.entry.scratch_bytes);
        Fault& fault = faults[step.axes.empty() ? 0 : static_cast<size_t>(chunk)];
        step.entry.run(step.tasks * chunk / chunks, step.tasks * (chunk + 1) / chunks, at.data(),
                       scratch.data(), &fault);
    };
    if (chunks == 1)
        run_chunk(0);
    else
        run.parallel_for(chunks, run_chunk);
    report(step, faults);
}

// The first index out of bounds in the order of the outer indices, whichever thread met it.
void CompiledProgram::report(const Step& step, const std::vector<Fault>& faults) {
    const Fault* first = nullptr;
    for (const Fault& fault : faults)
        if (fault.outer >= 0 && (first == nullptr || fault.outer < first->outer)) first = &fault;
    if (first == nullptr || step.axes.empty()) return;
    const IndexAxis& axis = step.axes[static_cast<size_t>(first->axis)];
    fail<IndexError>("index ", first->index, " is out of bounds for axis ", axis.number,
                     " with size ", axis.length);
}

}  // namespace composit::cpp
