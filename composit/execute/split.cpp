// A program whose kernels run on two back ends: each run of kernels becomes a program of its own,
// and buffers that pass from one to the next lie in memory that belongs to neither.
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/execute/build.h"

#include <algorithm>
#include <unordered_map>

namespace composit::execute {
namespace {

using ir::kernel::Access;
using ir::kernel::Buffer;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Program;

// Neighbouring kernels of one back end.
struct Segment {
    std::string backend;
    std::vector<Kernel> kernels;
    std::vector<int> inputs, outputs;  // buffer numbers of the whole program
    std::shared_ptr<runtime::Executable> executable;
};

std::vector<Segment> cut(const Program& program, const std::vector<Placement>& placements) {
    std::vector<Segment> segments;
    for (size_t k = 0; k < program.kernels.size(); ++k) {
        const std::string& backend = placements[k].backend;
        if (segments.empty() || segments.back().backend != backend)
            segments.emplace_back().backend = backend;
        segments.back().kernels.push_back(program.kernels[k]);
    }
    return segments;
}

std::vector<int> merged(std::vector<int> a, const std::vector<int>& b) {
    for (int number : b)
        if (std::find(a.begin(), a.end(), number) == a.end()) a.push_back(number);
    return a;
}

std::vector<int> buffers_of(const Segment& segment, bool written_only) {
    std::vector<int> numbers;
    for (const Kernel& kernel : segment.kernels) {
        if (!written_only) numbers = merged(std::move(numbers), buffers_read(kernel));
        numbers = merged(std::move(numbers), buffers_written(kernel));
    }
    return numbers;
}

// How often each buffer of the program occurs in different segments.
std::vector<int> count_segments(const Program& program, const std::vector<Segment>& segments) {
    std::vector<int> counts(program.buffers.size(), 0);
    for (const Segment& segment : segments)
        for (int number : buffers_of(segment, false)) ++counts[static_cast<size_t>(number)];
    return counts;
}

// The segment as a program; fills its inputs and outputs. What a segment writes for others is an
// output even where it was written before: a scatter goes on with the contents that are there.
Program program_of(Segment& segment, const Program& whole, const std::vector<int>& counts) {
    Program part;
    part.name = whole.name;
    part.graph_text = whole.graph_text;
    part.kernels = segment.kernels;
    const std::vector<int> written = buffers_of(segment, true);
    std::unordered_map<int, int> renumbered;
    for (int number : buffers_of(segment, false)) {
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
    for (Kernel& kernel : part.kernels) {
        for (Access* access : ir::kernel::accesses(kernel.body))
            if (access->buffer != Access::position) access->buffer = renumbered.at(access->buffer);
    }
    return part;
}

class SplitExecutable : public runtime::Executable {
  public:
    SplitExecutable(const Program& program, const std::vector<Placement>& placements,
                    const Options& options)
        : inputs_(program.inputs),
          outputs_(program.outputs),
          placements_(placements),
          segments_(cut(program, placements)),
          offsets_(program.buffers.size(), -1) {
        const std::vector<int> counts = count_segments(program, segments_);
        for (Segment& segment : segments_) {
            Program part = program_of(segment, program, counts);
            part = transforms::plan_buffers(std::move(part), options.reuse_buffers);
            const int threads = options.threads > 0 ? options.threads : default_threads();
            segment.executable =
                runtime::backend(segment.backend)
                    ->compile(part, {options.cache_folder, threads, options.whole_model});
            segment.kernels.clear();
        }
        for (size_t i = 0; i < program.buffers.size(); ++i) {
            const Buffer& buffer = program.buffers[i];
            if (buffer.kind != BufferKind::temporary || counts[i] < 2) continue;
            offsets_[i] = shared_bytes_;
            shared_bytes_ += (buffer.bytes + 63) / 64 * 64;
        }
    }

    void run(const runtime::Run& run) const override {
        const std::shared_ptr<void> shared = ir::allocate_aligned(shared_bytes_);
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
        for (const Segment& segment : segments_) {
            runtime::Run part{{}, {}, run.threads, run.parallel_for};
            for (int number : segment.inputs)
                part.inputs.push_back(readable[static_cast<size_t>(number)]);
            for (int number : segment.outputs)
                part.outputs.push_back(places[static_cast<size_t>(number)]);
            segment.executable->run(part);
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
            for (const runtime::SourceFile& file : segments_[s].executable->sources())
                all.push_back({text("segment_", s, "/", file.name), file.text});
        return all;
    }

    int64_t held_bytes() const override {
        int64_t sum = 0;
        for (const Segment& segment : segments_) sum += segment.executable->held_bytes();
        return sum;
    }

    std::string build_command() const override {
        std::vector<std::string> commands;
        for (const Segment& segment : segments_) {
            const std::string command = segment.executable->build_command();
            if (!command.empty()) commands.push_back(command);
        }
        return join(commands, "\n");
    }

  private:
    std::vector<int> inputs_, outputs_;
    std::vector<Placement> placements_;
    std::vector<Segment> segments_;
    std::vector<int64_t> offsets_;  // of temporaries that cross segments, in the shared memory
    int64_t shared_bytes_ = 0;
};

}  // namespace

std::shared_ptr<runtime::Executable> compile_split(const Program& program,
                                                   const std::vector<Placement>& placements,
                                                   const Options& options) {
    return std::make_shared<SplitExecutable>(program, placements, options);
}

}  // namespace composit::execute
