// A program whose kernels run on several back ends: kernels of one become neighbours, and each run
// of neighbours a program of its own.
#include "composit/execute/build.h"

#include <algorithm>
#include <map>
#include <set>
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

}  // namespace

void group_by_backend(Program& program, std::vector<PlacedKernel>& placements) {
    // The kernels before each that it must follow: what it reads or writes was written, or what it
    // writes was read.
    const size_t count = program.kernels.size();
    std::vector<std::set<size_t>> after(count);
    std::vector<int> open(count, 0);
    std::map<int, size_t> writer;
    std::map<int, std::vector<size_t>> readers;
    for (size_t k = 0; k < count; ++k) {
        std::set<size_t> before;
        const std::vector<int> read = buffers_read(program.kernels[k]);
        const std::vector<int> written = buffers_written(program.kernels[k]);
        for (int number : merged(read, written))
            if (writer.contains(number)) before.insert(writer[number]);
        for (int number : written) {
            before.insert(readers[number].begin(), readers[number].end());
            readers[number].clear();
            writer[number] = k;
        }
        for (int number : read) readers[number].push_back(k);
        before.erase(k);
        open[k] = static_cast<int>(before.size());
        for (size_t earlier : before) after[earlier].insert(k);
    }
    std::map<std::string, std::set<size_t>> ready;  // by back end, first things first
    for (size_t k = 0; k < count; ++k)
        if (open[k] == 0) ready[placements[k].backend].insert(k);
    const auto next_backend = [&] {
        std::string found;
        size_t first = count;
        bool found_device = false;
        for (const auto& [backend, kernels] : ready) {
            if (kernels.empty()) continue;
            const bool is_device = runtime::backend(backend)->device() != nullptr;
            if (found_device && !is_device) continue;
            if (is_device == found_device && *kernels.begin() > first) continue;
            found = backend, first = *kernels.begin(), found_device = is_device;
        }
        return found;
    };
    std::vector<Kernel> kernels;
    std::vector<PlacedKernel> placed;
    std::string backend;
    while (kernels.size() < count) {
        if (ready[backend].empty()) backend = next_backend();
        const size_t k = *ready[backend].begin();
        ready[backend].erase(k);
        kernels.push_back(std::move(program.kernels[k]));
        placed.push_back(std::move(placements[k]));
        for (size_t later : after[k])
            if (--open[later] == 0) ready[placements[later].backend].insert(later);
    }
    program.kernels = std::move(kernels);
    placements = std::move(placed);
}

std::vector<Segment> segments_of(const Program& program,
                                 const std::vector<PlacedKernel>& placements) {
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

}  // namespace composit::execute
