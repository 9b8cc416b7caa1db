// Runs compiled programs: finds the pointers, shares tasks out, reports indices out of bounds.
#include "composit/backends/cpp/executable.h"

#include "composit/backends/cpp/unavailable.h"
#include "composit/backends/cpp/work.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/runtime/chunks.h"
#include "composit/runtime/interrupt.h"
#include "composit/runtime/ready_products.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <exception>
#include <utility>

namespace composit::cpp {
namespace {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;
using runtime::chunks_per_thread;
using runtime::nanoseconds_per_chunk;

constexpr double work_between_looks = 0x1p24;  // for an interruption, in a loop

int64_t rounded_up(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// The expression for a place in the text of a model.
std::string pointer_text(const Layout::Place& place) {
    switch (place.kind) {
        case BufferKind::input: return text("inputs[", place.at, "]");
        case BufferKind::output: return text("outputs[", place.at, "]");
        case BufferKind::local:  // lies in the function's own scratch memory
        case BufferKind::packed:
        case BufferKind::constant: return text("constants[", place.at, "]");
        case BufferKind::temporary: return place.at == 0 ? "arena" : text("arena + ", place.at);
    }
    return "";
}

// Compilers that were told of other vectors than composit knows compile for another CPU.
void give_products(const Library& library) {
    void* const found = library.find(use_products_symbol);
    if (found == nullptr || reinterpret_cast<UseProducts>(found)(&runtime::ready_products)) return;
    throw CompilationUnavailable(
        "composit: the C++ compiler makes vectors of a length for which composit has no products "
        "on this CPU. Leave the options for instruction sets out of CXX.",
        "", "");
}

// What the program's own products ask for; all of its libraries were compiled alike.
runtime::PanelWidth panel_width(const Compiled& compiled) {
    return [&](bool is_left, ir::DType dtype, int64_t remaining) {
        for (const auto& library : compiled.libraries)
            if (void* const found = library->find(panel_width_symbol))
                return reinterpret_cast<PanelWidth>(found)(is_left, ir::size_of(dtype), remaining);
        internal_check(false, "cpp: no library tells the width of panels");
        return int64_t{0};
    };
}

thread_local bool was_told_to_end = false;  // work whose results are of no use

// What long work of generated code asks: nothing may be thrown through that.
bool goes_on() {
    if (was_told_to_end) return false;
    try {
        runtime::check_interrupt();
    } catch (...) {
        was_told_to_end = true;
    }
    return !was_told_to_end;
}

void throw_if_told_to_end() {
    if (std::exchange(was_told_to_end, false)) throw runtime::Interrupted();
}

}  // namespace

Layout::Layout(const Program& program, const c_family::Modules& modules) {
    arena_bytes = rounded_up(program.arena_bytes);
    int64_t constants = 0;
    for (const Buffer& buffer : program.buffers) {
        Place place{buffer.kind, buffer.arena_offset};
        if (buffer.kind == BufferKind::constant || buffer.kind == BufferKind::packed)
            place.at = constants++;
        if (buffer.kind == BufferKind::temporary && buffer.arena_offset < 0) {
            place.at = arena_bytes;  // not planned: behind those that are
            arena_bytes += rounded_up(buffer.bytes);
        }
        places.push_back(place);
    }
    for (Place& place : places)
        if (place.kind == BufferKind::local) place.at = constants;  // null, behind them
    const auto number = [&](const std::vector<int>& buffers) {
        for (size_t k = 0; k < buffers.size(); ++k)
            places[static_cast<size_t>(buffers[k])].at = static_cast<int64_t>(k);
    };
    number(program.inputs);
    number(program.outputs);
    for (const c_family::KernelCall& call : modules.calls.at(0))
        steps.push_back(step_of(program, modules, call));
}

ModelStep Layout::step_of(const Program& program, const c_family::Modules& modules,
                          const c_family::KernelCall& call) {
    ModelStep step;
    step.name = call.kernel->name;
    for (int buffer : call.buffers)
        step.pointers.push_back(pointer_text(places[static_cast<size_t>(buffer)]));
    const double work = work_of(*call.kernel, program);
    if (const auto* repeat = std::get_if<ir::kernel::Repeat>(&call.kernel->body)) {
        step.is_repeat = true;
        step.begin = repeat->begin;
        step.end = repeat->end;
        const auto iterations = static_cast<double>(repeat->end - repeat->begin);
        step.patience = static_cast<int64_t>(
            std::clamp(work_between_looks / (work / iterations + 1), 1.0, work_between_looks));
        for (const c_family::KernelCall& inner : call.repeated)
            step.repeated.push_back(step_of(program, modules, inner));
        return step;
    }
    if (!call.has_function()) {
        step.number = count_++;
        return step;
    }
    const auto& function = modules.modules[call.module].functions[call.function];
    const bool is_small =
        function.tasks <= 1 || nanoseconds_of(*call.kernel, program) < 2 * nanoseconds_per_chunk;
    step.module = call.module;
    step.function = call.function;
    step.tasks = function.tasks;
    step.is_direct = is_small && work < most_work(*call.kernel);
    step.can_fault = function.can_fault;
    step.number = count_++;
    return step;
}

CompiledProgram::CompiledProgram(const Program& program, const c_family::Modules& modules,
                                 const Layout& layout, Compiled compiled,
                                 const runtime::ParallelFor& parallel_for)
    : compiled_(std::move(compiled)),
      places_(layout.places),
      kernel_count_(program.kernels.size()),
      arena_bytes_(layout.arena_bytes) {
    constants_ = runtime::memory_of_constants(program, panel_width(compiled_), parallel_for);
    packed_bytes_ = runtime::bytes_of_packed_constants(program);
    for (size_t b = 0; b < constants_.size(); ++b) {
        const BufferKind kind = program.buffers[b].kind;
        if (kind == BufferKind::constant || kind == BufferKind::packed)
            constant_pointers_.push_back(const_cast<void*>(constants_[b].get()));
    }
    constant_pointers_.push_back(nullptr);
    for (size_t m = 0; m < modules.modules.size(); ++m)
        entries_.push_back(
            static_cast<const Entry*>(compiled_.libraries[m]->symbol(entries_symbol)));
    for (const auto& library : compiled_.libraries) {
        give_products(*library);
        if (void* const found = library->find(ask_symbol)) reinterpret_cast<Ask>(found)(&goes_on);
    }
    const size_t count = compiled_.libraries.size();
    for (size_t m = count - compiled_.models; m < count; ++m)
        models_.push_back(reinterpret_cast<Model>(compiled_.libraries[m]->symbol(model_symbol)));
    for (const c_family::KernelCall& call : modules.calls.at(0))
        steps_.push_back(step_of(program, modules, call));
    number(steps_, layout.steps);
}

void CompiledProgram::number(const std::vector<Step>& steps,
                             const std::vector<ModelStep>& as_text) {
    for (size_t s = 0; s < steps.size(); ++s) {
        if (steps[s].is_repeat) {
            number(steps[s].repeated, as_text[s].repeated);
            continue;
        }
        internal_check(as_text[s].number == numbered_.size(), "cpp: step ", as_text[s].name,
                       " has number ", as_text[s].number, " instead of ", numbered_.size());
        numbered_.push_back(&steps[s]);
        if (as_text[s].is_direct)
            scratch_bytes_ = std::max(scratch_bytes_, steps[s].entry.scratch_bytes);
    }
}

CompiledProgram::Step CompiledProgram::step_of(const Program& program,
                                               const c_family::Modules& modules,
                                               const c_family::KernelCall& call) const {
    const Kernel& kernel = *call.kernel;
    const double work = work_of(kernel, program), nanoseconds = nanoseconds_of(kernel, program);
    Step step{call.number, {}, 0, 1, work, most_work(kernel), nanoseconds, {}, {}};
    for (int buffer : call.buffers) step.at.push_back(places_[static_cast<size_t>(buffer)]);
    if (const auto* repeat = std::get_if<ir::kernel::Repeat>(&kernel.body)) {
        step.begin = repeat->begin;
        step.end = repeat->end;
        step.is_repeat = true;
        for (const c_family::KernelCall& inner : call.repeated)
            step.repeated.push_back(step_of(program, modules, inner));
        return step;
    }
    if (const auto* foreign = std::get_if<ir::kernel::Foreign>(&kernel.body)) {
        step.foreign = std::make_shared<const runtime::ForeignKernel>(*foreign);
        return step;
    }
    if (const auto* called = std::get_if<ir::kernel::Call>(&kernel.body)) {
        step.called = std::make_shared<const runtime::ProcedureCall>(*called);
        return step;
    }
    step.entry = entries_[call.module][call.function];
    const auto& function = modules.modules[call.module].functions[call.function];
    step.tasks = function.tasks;
    step.tasks_together = function.tasks_together;
    const auto add_axes = [&](const auto& body) {
        for (size_t j = 0; j < body.indices.size(); ++j)
            step.axes.push_back({body.axis_numbers[j], body.axis_lengths[j]});
    };
    if (const auto* gather = std::get_if<ir::kernel::Gather>(&kernel.body)) add_axes(*gather);
    if (const auto* scatter = std::get_if<ir::kernel::Scatter>(&kernel.body)) add_axes(*scatter);
    return step;
}

int64_t CompiledProgram::working_bytes(int threads) const {
    int64_t scratch = 0;
    for (const Step* step : numbered_) scratch = std::max(scratch, step->entry.scratch_bytes);
    return arena_bytes_ + scratch * std::max(threads, 1) + (models_.empty() ? 0 : scratch_bytes_);
}

int64_t CompiledProgram::held_bytes() const {
    int64_t code = 0;
    for (const std::shared_ptr<Library>& library : compiled_.libraries) code += library->bytes();
    return code + packed_bytes_ + pool_.bytes();
}

// A run of a model, and what stopped it.
struct CompiledProgram::Running {
    const CompiledProgram& program;
    const runtime::Run& run;
    std::exception_ptr error = nullptr;
};

// Nothing may be thrown through generated code, which any compiler may have made.
bool CompiledProgram::run_for_model(void* state, int64_t number, void* const* at) {
    Running& running = *static_cast<Running*>(state);
    try {
        runtime::check_interrupt();
        running.program.run_step(*running.program.numbered_[static_cast<size_t>(number)],
                                 running.run, at);
        return true;
    } catch (...) {
        running.error = std::current_exception();
        return false;
    }
}

bool CompiledProgram::accept_for_model(void* state, int64_t number, const Fault* fault) {
    Running& running = *static_cast<Running*>(state);
    try {
        report(*running.program.numbered_[static_cast<size_t>(number)], {*fault});
        return true;
    } catch (...) {
        running.error = std::current_exception();
        return false;
    }
}

bool CompiledProgram::go_on_with_model(void* state) {
    try {
        runtime::check_interrupt();
        return true;
    } catch (...) {
        static_cast<Running*>(state)->error = std::current_exception();
        return false;
    }
}

void CompiledProgram::run(const runtime::Run& run) const {
    if (models_.empty())
        run_steps(run, nullptr);
    else
        run_models(run);
}

std::vector<double> CompiledProgram::seconds_of_kernels(const runtime::Run& run) const {
    std::vector<double> seconds(kernel_count_, 0.0);
    run_steps(run, &seconds);
    return seconds;
}

void CompiledProgram::run_models(const runtime::Run& run) const {
    runtime::MemoryPool::Block arena(pool_, arena_bytes_), scratch(pool_, scratch_bytes_);
    Running running{*this, run};
    const Host host{&running, &run_for_model, &go_on_with_model, &accept_for_model};
    for (Model model : models_) {
        runtime::check_interrupt();
        was_told_to_end = false;
        if (!model(entries_.data(), const_cast<void* const*>(run.inputs.data()),
                   constant_pointers_.data(), run.outputs.data(), arena.data(), scratch.data(),
                   &host))
            std::rethrow_exception(running.error);
        throw_if_told_to_end();
    }
}

void CompiledProgram::run_steps(const runtime::Run& run, std::vector<double>* seconds) const {
    runtime::MemoryPool::Block arena(pool_, arena_bytes_);
    run_in_turn(steps_, run, arena.data(), seconds);
}

void CompiledProgram::run_in_turn(const std::vector<Step>& steps, const runtime::Run& run,
                                  char* arena, std::vector<double>* seconds) const {
    using Clock = std::chrono::steady_clock;
    std::vector<void*> at;
    for (const Step& step : steps) {
        runtime::check_interrupt();
        at.clear();
        for (const Layout::Place& place : step.at) at.push_back(pointer(place, run, arena));
        const auto start = Clock::now();
        if (!step.is_repeat) run_step(step, run, at.data());
        for (int64_t i = step.begin; i < step.end; ++i) {
            for (void* counter : at) std::memcpy(counter, &i, sizeof i);
            run_in_turn(step.repeated, run, arena, nullptr);
        }
        if (seconds)
            (*seconds)[step.kernel] += std::chrono::duration<double>(Clock::now() - start).count();
    }
}

void* CompiledProgram::pointer(const Layout::Place& place, const runtime::Run& run,
                               char* arena) const {
    const auto number = static_cast<size_t>(place.at);
    switch (place.kind) {
        case BufferKind::input: return const_cast<void*>(run.inputs[number]);
        case BufferKind::output: return run.outputs[number];
        case BufferKind::local:
        case BufferKind::packed:
        case BufferKind::constant: return constant_pointers_[number];
        case BufferKind::temporary: return arena + place.at;
    }
    return nullptr;
}

// For the threads, and for interruptions.
int64_t CompiledProgram::Step::chunks(int threads) const {
    double wished = 1;
    if (threads > 1) {
        const int64_t each =
            std::clamp<int64_t>(tasks / tasks_together / threads, 1, chunks_per_thread);
        wished = std::min(static_cast<double>(threads * each), nanoseconds / nanoseconds_per_chunk);
    }
    wished = std::max({1.0, wished, work / most_work});
    return static_cast<int64_t>(std::min(wished, static_cast<double>(std::max<int64_t>(tasks, 1))));
}

void CompiledProgram::run_step(const Step& step, const runtime::Run& run, void* const* at) const {
    if (step.foreign) return step.foreign->run(at);
    if (step.called) return step.called->run(at, run);
    const int64_t chunks = step.chunks(run.threads);
    std::vector<Fault> faults(step.axes.empty() ? 1 : static_cast<size_t>(chunks));
    auto run_chunk = [&](int64_t chunk) {
        runtime::MemoryPool::Block scratch(pool_, step.entry.scratch_bytes);
        Fault& fault = faults[step.axes.empty() ? 0 : static_cast<size_t>(chunk)];
        step.entry.run(step.tasks * chunk / chunks, step.tasks * (chunk + 1) / chunks, at,
                       scratch.data(), &fault);
        throw_if_told_to_end();
    };
    if (chunks > 1)
        run.parallel_for(chunks, run_chunk);
    else
        run_chunk(0);
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
