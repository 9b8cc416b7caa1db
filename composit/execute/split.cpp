// A program whose kernels run on two back ends: each run of kernels becomes a program of its own,
// and buffers that pass from one to the next lie in memory that belongs to neither.
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/execute/build.h"
#include "composit/runtime/device.h"

#include <algorithm>
#include <unordered_map>

namespace composit::execute {
namespace {

using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;

std::vector<int> merged(std::vector<int> a, const std::vector<int>& b) {
    for (int number : b)
        if (std::find(a.begin(), a.end(), number) == a.end()) a.push_back(number);
    return a;
}

std::vector<int> buffers_of(const std::vector<Kernel>& kernels, bool written_only) {
    std::vector<int> numbers;
    for (const Kernel& kernel : kernels) {
        if (!written_only) numbers = merged(std::move(numbers), buffers_read(kernel));
        numbers = merged(std::move(numbers), buffers_written(kernel));
    }
    return numbers;
}

// In how many parts each buffer of the program occurs.
std::vector<int> count_parts(const Program& program,
                             const std::vector<std::vector<Kernel>>& parts) {
    std::vector<int> counts(program.buffers.size(), 0);
    for (const std::vector<Kernel>& kernels : parts)
        for (int number : buffers_of(kernels, false)) ++counts[static_cast<size_t>(number)];
    return counts;
}

// What a segment writes for others is an output even where it was written before: a scatter goes
// on with the contents that are there.
Segment segment_of(std::vector<Kernel> kernels, const std::string& backend, const Program& whole,
                   const std::vector<int>& counts) {
    Segment segment{backend, {}, {}, {}};
    Program& part = segment.program;
    part.name = whole.name;
    part.graph_text = whole.graph_text;
    part.kernels = std::move(kernels);
    const std::vector<int> written = buffers_of(part.kernels, true);
    std::unordered_map<int, int> renumbered;
    for (int number : buffers_of(part.kernels, false)) {
        Buffer buffer = whole.buffers[static_cast<size_t>(number)];
        const int fresh = static_cast<int>(part.buffers.size());
        const bool is_written = std::find(written.begin(), written.end(), number) != written.end();
        const bool stays_inside =
            buffer.kind == BufferKind::temporary && counts[static_cast<size_t>(number)] == 1;
        if (buffer.kind != BufferKind::constant && !stays_inside) {
            buffer.kind = is_written ? BufferKind::output : BufferKind::input;
            (is_written ? part.outputs : part.inputs).push_back(fresh);
            (is_written ? segment.outputs : segment.inputs).push_back(number);
        }
        renumbered.emplace(number, fresh);
        part.buffers.push_back(std::move(buffer));
    }
    for (Buffer& buffer : part.buffers) {
        const auto start = renumbered.find(buffer.starts_as);
        buffer.starts_as = start == renumbered.end() ? -1 : start->second;
    }
    for (Kernel& kernel : part.kernels) {
        for (Access* access : ir::kernel::accesses(kernel.body))
            if (access->buffer != Access::position) access->buffer = renumbered.at(access->buffer);
    }
    return segment;
}

class SplitExecutable : public runtime::Executable {
  public:
    SplitExecutable(const Program& program, const std::vector<Placement>& placements,
                    std::vector<Segment> segments,
                    std::vector<std::shared_ptr<runtime::Executable>> executables,
                    std::shared_ptr<runtime::Device> home)
        : home_(std::move(home)),
          inputs_(program.inputs),
          outputs_(program.outputs),
          placements_(placements),
          segments_(std::move(segments)),
          executables_(std::move(executables)),
          offsets_(program.buffers.size(), -1) {
        for (const Buffer& buffer : program.buffers) bytes_.push_back(buffer.bytes);
        for (const Segment& segment : segments_)
            is_at_home_.push_back(runtime::backend(segment.backend)->device() == home_);
        std::vector<int> counts(program.buffers.size(), 0);
        for (Segment& segment : segments_) {
            for (const std::vector<int>* numbers : {&segment.inputs, &segment.outputs})
                for (int number : *numbers) ++counts[static_cast<size_t>(number)];
            segment.program = {};
        }
        for (size_t i = 0; i < program.buffers.size(); ++i) {
            const Buffer& buffer = program.buffers[i];
            if (buffer.kind != BufferKind::temporary || counts[i] < 2) continue;
            offsets_[i] = shared_bytes_;
            shared_bytes_ += (buffer.bytes + 63) / 64 * 64;
        }
    }

    void run(const runtime::Run& run) const override {
        const std::shared_ptr<void> shared = shared_memory();
        std::vector<void*> places(offsets_.size(), nullptr);
        for (size_t i = 0; i < places.size(); ++i)
            if (offsets_[i] >= 0) places[i] = static_cast<char*>(shared.get()) + offsets_[i];
        std::vector<const void*> readable(places.begin(), places.end());
        for (size_t i = 0; i < inputs_.size(); ++i)
            readable[static_cast<size_t>(inputs_[i])] = run.inputs[i];
        for (size_t i = 0; i < outputs_.size(); ++i) {
            const auto number = static_cast<size_t>(outputs_[i]);
            readable[number] = places[number] = run.outputs[i];
        }
        for (size_t s = 0; s < segments_.size(); ++s) {
            const Segment& segment = segments_[s];
            runtime::Run part{{}, {}, run.threads, run.parallel_for};
            if (!is_at_home_[s]) {
                run_on_host(s, std::move(part), readable);
                continue;
            }
            for (int number : segment.inputs)
                part.inputs.push_back(readable[static_cast<size_t>(number)]);
            for (int number : segment.outputs)
                part.outputs.push_back(places[static_cast<size_t>(number)]);
            executables_[s]->run(part);
        }
    }

    std::vector<runtime::SourceFile> sources() const override {
        std::vector<runtime::SourceFile> all;
        std::string elsewhere;
        for (const Placement& placement : placements_)
            if (!placement.why.empty())
                elsewhere += comment_line(text(placement.kernel, " runs on the ", placement.backend,
                                               ": ", placement.why));
        if (!elsewhere.empty()) all.push_back({"placements", elsewhere});
        for (size_t s = 0; s < segments_.size(); ++s)
            for (const runtime::SourceFile& file : executables_[s]->sources())
                all.push_back({text("segment_", s, "/", file.name), file.text});
        return all;
    }

    int64_t held_bytes() const override {
        int64_t sum = 0;
        for (const auto& executable : executables_) sum += executable->held_bytes();
        return sum;
    }

    std::string build_command() const override {
        std::vector<std::string> commands;
        for (const auto& executable : executables_) {
            const std::string command = executable->build_command();
            if (!command.empty()) commands.push_back(command);
        }
        return join(commands, "\n");
    }

  private:
    // For temporaries that cross segments.
    std::shared_ptr<void> shared_memory() const {
        if (!home_) return ir::allocate_aligned(shared_bytes_);
        const auto memory = runtime::DeviceMemory::allocate(home_, shared_bytes_, "temporaries");
        return {memory, memory->address()};
    }

    // A segment that the device does not run: between copies of what it reads and writes. Outputs
    // are read too, since kernels may go on with what is there.
    void run_on_host(size_t s, runtime::Run part, const std::vector<const void*>& places) const {
        const Segment& segment = segments_[s];
        std::vector<std::shared_ptr<void>> copies;
        const auto copied = [&](int number) {
            const int64_t bytes = bytes_[static_cast<size_t>(number)];
            copies.push_back(ir::allocate_aligned(bytes));
            if (bytes > 0)
                home_->copy_to_host(copies.back().get(), places[static_cast<size_t>(number)],
                                    bytes);
            return copies.back().get();
        };
        for (int number : segment.inputs) part.inputs.push_back(copied(number));
        for (int number : segment.outputs) part.outputs.push_back(copied(number));
        executables_[s]->run(part);
        for (size_t i = 0; i < segment.outputs.size(); ++i) {
            const auto number = static_cast<size_t>(segment.outputs[i]);
            if (bytes_[number] > 0)
                home_->copy_from_host(const_cast<void*>(places[number]), part.outputs[i],
                                      bytes_[number]);
        }
    }

    const std::shared_ptr<runtime::Device> home_;
    std::vector<bool> is_at_home_;  // of each segment
    std::vector<int64_t> bytes_;    // of each buffer
    std::vector<int> inputs_, outputs_;
    std::vector<Placement> placements_;
    std::vector<Segment> segments_;  // without programs
    std::vector<std::shared_ptr<runtime::Executable>> executables_;
    std::vector<int64_t> offsets_;  // of temporaries that cross segments, in the shared memory
    int64_t shared_bytes_ = 0;
};

}  // namespace

std::vector<Segment> segments_of(const Program& program, const std::vector<Placement>& placements) {
    std::vector<std::vector<Kernel>> parts;
    std::vector<std::string> backends;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        if (backends.empty() || backends.back() != placements[k].backend) {
            backends.push_back(placements[k].backend);
            parts.emplace_back();
        }
        parts.back().push_back(program.kernels[k]);
    }
    const std::vector<int> counts = count_parts(program, parts);
    std::vector<Segment> segments;
    for (size_t s = 0; s < parts.size(); ++s)
        segments.push_back(segment_of(std::move(parts[s]), backends[s], program, counts));
    return segments;
}

std::shared_ptr<runtime::Executable> joined(
    const Program& program, const std::vector<Placement>& placements, std::vector<Segment> segments,
    std::vector<std::shared_ptr<runtime::Executable>> executables,
    std::shared_ptr<runtime::Device> home) {
    return std::make_shared<SplitExecutable>(program, placements, std::move(segments),
                                             std::move(executables), std::move(home));
}

}  // namespace composit::execute
