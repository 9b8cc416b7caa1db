// Launches the functions of a program, and reads what faults they met.
#include "composit/backends/simt/executable.h"

#include "composit/backends/c_family/called_items.h"
#include "composit/backends/simt/item_support.h"
#include "composit/backends/simt/kernel_text.h"
#include "composit/base/error.h"
#include "composit/base/text.h"
#include "composit/ir/procedure/interpret.h"
#include "composit/runtime/interrupt.h"
#include "composit/runtime/procedure_call.h"

#include <algorithm>
#include <utility>

namespace composit::simt {
namespace {

using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using runtime::DeviceMemory;

constexpr int64_t alignment = 16;  // of the widest accesses in texts

int64_t rounded_to_blocks(int64_t bytes) { return (bytes + 255) / 256 * 256; }

bool is_aligned(const void* address) {
    return reinterpret_cast<uintptr_t>(address) % alignment == 0;
}

}  // namespace

// Where things lie during a run, and how far it is.
struct SimtExecutable::Running {
    std::vector<char*> buffers;  // by number
    char* scratch = nullptr;
    char* fault = nullptr;
    std::vector<const ProgramStep*> may_fault;  // the step of each numbered launch, from 1 on
    std::vector<std::pair<size_t, std::shared_ptr<runtime::Event>>> ends;  // of measured kernels
};

SimtExecutable::SimtExecutable(std::shared_ptr<Machine> machine, const ir::kernel::Program& program,
                               const std::string& cache_folder)
    : machine_(std::move(machine)),
      text_(print_program(machine_->dialect(), program)),
      buffers_(program.buffers),
      inputs_(program.inputs),
      outputs_(program.outputs),
      kernel_count_(program.kernels.size()),
      arena_bytes_(rounded_to_blocks(program.arena_bytes)),
      workspace_bytes_(text_.kernels.size()) {
    runtime::check_interrupt();
    if (!text_.steps.empty()) code_ = machine_->build(text_.text, cache_folder);
    constants_.resize(buffers_.size());
    for (size_t b = 0; b < buffers_.size(); ++b) {
        Buffer& buffer = buffers_[b];
        if (buffer.kind == BufferKind::constant)
            constants_[b] = runtime::address_on(machine_, buffer.value);
        if (buffer.kind == BufferKind::temporary && buffer.arena_offset < 0) {
            buffer.arena_offset = arena_bytes_;  // not planned: behind those that are
            arena_bytes_ += rounded_to_blocks(buffer.bytes);
        }
        buffer.value = {};
    }
}

std::vector<runtime::SourceFile> SimtExecutable::sources() const {
    return {{"kernels", text_.text}};
}

std::string SimtExecutable::build_command() const { return code_ ? code_->build_command() : ""; }

int64_t SimtExecutable::working_bytes(int) const { return arena_bytes_ + text_.scratch_bytes; }

void SimtExecutable::run(const runtime::Run& run) const { run_all(run, nullptr); }

std::vector<double> SimtExecutable::seconds_of_kernels(const runtime::Run& run) const {
    std::vector<double> seconds(kernel_count_, 0.0);
    run_all(run, &seconds);
    return seconds;
}

void SimtExecutable::run_all(const runtime::Run& run, std::vector<double>* seconds) const {
    internal_check(run.inputs.size() == inputs_.size() && run.outputs.size() == outputs_.size(),
                   "simt: a run of ", run.inputs.size(), " inputs and ", run.outputs.size(),
                   " outputs instead of ", inputs_.size(), " and ", outputs_.size());
    const int64_t scratch = rounded_to_blocks(text_.scratch_bytes);
    const int64_t wanted = arena_bytes_ + scratch + (text_.can_fault ? sizeof(FaultRecord) : 0);
    const std::shared_ptr<DeviceMemory> memory =
        wanted > 0 ? DeviceMemory::allocate(machine_, wanted, "memory of a program") : nullptr;
    Running running;
    running.buffers.assign(buffers_.size(), nullptr);
    char* const arena = memory ? static_cast<char*>(memory->address()) : nullptr;
    running.scratch = arena + arena_bytes_;
    running.fault = running.scratch + scratch;
    for (size_t b = 0; b < buffers_.size(); ++b) {
        if (buffers_[b].kind == BufferKind::temporary)
            running.buffers[b] = arena + buffers_[b].arena_offset;
        if (constants_[b])
            running.buffers[b] = static_cast<char*>(const_cast<void*>(constants_[b].get()));
    }
    // What lies between two packets of elements is copied to where it does not.
    std::vector<std::shared_ptr<DeviceMemory>> copies;
    const auto copied = [&](char* address, int64_t bytes) {
        copies.push_back(DeviceMemory::allocate(machine_, bytes, "copy"));
        auto* const copy = static_cast<char*>(copies.back()->address());
        machine_->copy(copy, address, bytes);
        return copy;
    };
    const auto is_moved = [&](const void* address) {
        return text_.needs_alignment && !is_aligned(address);
    };
    for (size_t i = 0; i < inputs_.size(); ++i) {
        const auto b = static_cast<size_t>(inputs_[i]);
        running.buffers[b] = static_cast<char*>(const_cast<void*>(run.inputs[i]));
        if (is_moved(run.inputs[i]))
            running.buffers[b] = copied(running.buffers[b], buffers_[b].bytes);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
        const auto b = static_cast<size_t>(outputs_[i]);
        running.buffers[b] = static_cast<char*>(run.outputs[i]);
        if (is_moved(run.outputs[i]))
            running.buffers[b] = copied(running.buffers[b], buffers_[b].bytes);
    }
    if (text_.can_fault) machine_->fill_with_zeros(running.fault, sizeof(FaultRecord));
    if (seconds) running.ends.emplace_back(0, machine_->record());
    run_steps(text_.steps, running, seconds != nullptr);
    for (size_t i = 0; i < outputs_.size(); ++i) {
        const auto b = static_cast<size_t>(outputs_[i]);
        if (running.buffers[b] != run.outputs[i])
            machine_->copy(run.outputs[i], running.buffers[b], buffers_[b].bytes);
    }
    if (text_.can_fault) report_fault(running);
    if (!seconds) return;
    running.ends.back().second->wait();
    for (size_t k = 1; k < running.ends.size(); ++k)
        (*seconds)[running.ends[k].first] +=
            running.ends[k].second->seconds_since(*running.ends[k - 1].second);
}

void SimtExecutable::run_steps(const std::vector<ProgramStep>& steps, Running& running,
                               bool is_measured) const {
    for (const ProgramStep& step : steps) {
        runtime::check_interrupt();
        if (!step.is_repeat) launch(step, running);
        for (int64_t i = step.begin; i < step.end; ++i) {
            if (!step.buffers.empty()) {
                Launch counter;
                counter.function = "set_counter";
                counter.addresses = {running.buffers[static_cast<size_t>(step.buffers[0])]};
                counter.numbers = {i};
                machine_->launch(*code_, counter);
            }
            run_steps(step.repeated, running, false);
        }
        if (is_measured) running.ends.emplace_back(step.kernel, machine_->record());
    }
}

void SimtExecutable::launch(const ProgramStep& step, Running& running) const {
    for (const PrintedLaunch& printed : text_.kernels[step.printed].launches) {
        Launch launch;
        launch.function = printed.function;
        launch.groups[0] = printed.groups[0];
        launch.groups[1] = printed.groups[1];
        launch.threads = printed.threads;
        for (const Address& address : printed.addresses) {
            switch (address.of) {
                case Address::Of::parameter: {
                    const int buffer = step.buffers[static_cast<size_t>(address.number)];
                    launch.addresses.push_back(running.buffers[static_cast<size_t>(buffer)]);
                    break;
                }
                case Address::Of::scratch:
                    launch.addresses.push_back(running.scratch + address.number);
                    break;
                case Address::Of::fault: launch.addresses.push_back(running.fault); break;
                case Address::Of::workspace: launch.addresses.push_back(nullptr); break;
            }
        }
        launch.numbers = printed.numbers;
        if (printed.workspace.items > 0) {
            launch_over_items(step, printed, std::move(launch), running);
            continue;
        }
        if (printed.is_numbered) {
            running.may_fault.push_back(&step);
            launch.numbers.push_back(static_cast<int64_t>(running.may_fault.size()));
        }
        machine_->launch(*code_, launch);
    }
}

void SimtExecutable::launch_over_items(const ProgramStep& step, const PrintedLaunch& printed,
                                       Launch launch, Running& running) const {
    constexpr int64_t most_bytes = int64_t{1} << 28;        // of all items at a time, if several
    constexpr int64_t most_known_bytes = int64_t{1} << 20;  // one item may be much larger than most
    const PrintedLaunch::Workspace& wanted = printed.workspace;
    std::atomic<int64_t>& known = workspace_bytes_[step.printed];
    int64_t bytes = std::max(wanted.bytes, known.load());
    size_t place = 0;  // of the workspaces among the addresses
    while (printed.addresses[place].of != Address::Of::workspace) ++place;
    for (int64_t first = 0; first < wanted.items;) {
        const int64_t items = std::clamp<int64_t>(most_bytes / bytes, 1, wanted.items - first);
        const auto memory = DeviceMemory::allocate(machine_, items * bytes, printed.function);
        launch.groups[0] = groups_of(items, printed.threads);
        launch.addresses[place] = memory->address();
        running.may_fault.push_back(&step);
        const auto number = static_cast<int64_t>(running.may_fault.size());
        launch.numbers = {first, first + items, bytes, number};
        machine_->launch(*code_, launch);
        FaultRecord record;
        if (wanted.may_grow) machine_->copy_to_host(&record, running.fault, sizeof record);
        if (record.launch == 0) {
            first += items;
            continue;
        }
        const bool is_full =
            record.launch == number && record.axis == static_cast<int64_t>(ItemFault::workspace);
        if (!is_full) report_fault(record, running);
        bytes *= 4;  // and again, from the same operands
        known = std::max(std::min(bytes, most_known_bytes), known.load());
        machine_->fill_with_zeros(running.fault, sizeof record);
    }
}

// Waits for the run's end.
void SimtExecutable::report_fault(const Running& running) const {
    FaultRecord record;
    machine_->copy_to_host(&record, running.fault, sizeof record);
    if (record.launch != 0) report_fault(record, running);
}

void SimtExecutable::report_fault(const FaultRecord& record, const Running& running) const {
    const ProgramStep& step = *running.may_fault[static_cast<size_t>(record.launch - 1)];
    if (step.called) return report_failed_item(*step.called, record, running);
    const ProgramStep::Axis& axis = step.axes[static_cast<size_t>(record.axis)];
    fail<IndexError>("index ", record.index, " is out of bounds for axis ", axis.number,
                     " with size ", axis.length);
}

// The host runs the item again, and throws what it meets.
void SimtExecutable::report_failed_item(const ir::kernel::Call& call, const FaultRecord& record,
                                        const Running& running) const {
    const ir::kernel::Call one = c_family::of_item(call, record.outer);
    std::vector<std::vector<char>> memory;
    std::vector<void*> at;
    for (const auto* operands : {&one.inputs, &one.outputs})
        for (const ir::kernel::Call::Operand& operand : *operands) {
            const auto b = static_cast<size_t>(operand.access.buffer);
            memory.emplace_back(static_cast<size_t>(buffers_[b].bytes));
            if (operands == &one.inputs)
                machine_->copy_to_host(memory.back().data(), running.buffers[b], buffers_[b].bytes);
            at.push_back(memory.back().data());
        }
    runtime::ProcedureCall(one).run(at.data(), {});
    const ir::procedure::Procedure& procedure = c_family::called_in(call).procedure;
    ir::procedure::fail_assertion(procedure, text(procedure.file, ":", procedure.line));
}

}  // namespace composit::simt
