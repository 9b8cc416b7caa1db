// Joins a map with the map that makes what it reads, or reads the same: one loop of several
// results.
//
// lower composes maps of one user each. What several maps use is computed once, in a map of its
// own; where its users run over the same loops they become further results of that map, which
// keeps the value in a register on its way. Two that read the same array often share work on it: a
// function and its derivative.
#include "composit/base/text.h"
#include "composit/ir/operation.h"
#include "composit/ops/nest.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <optional>
#include <set>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::BufferKind;
using ir::kernel::Kernel;
using ir::kernel::Map;
using ir::kernel::Program;
using ir::scalar::Expr;

namespace {

// Kernels between two maps that only read the same: results made early take memory for long.
constexpr int most_between = 8;

size_t at(int number) { return static_cast<size_t>(number); }

size_t operation_count(const std::vector<Expr>& values) {
    const auto all = ir::scalar::all_expressions(values);
    return static_cast<size_t>(std::count_if(all.begin(), all.end(), [](const Expr& expr) {
        return ir::scalar::arity_of(expr.op()) != 0;
    }));
}

// The two maps as one, if they run over the same loops and touch an array alike, and `second` reads
// of the results of `first` only what the same index wrote.
std::optional<Map> joined(const Map& first, const Map& second, const Target& target) {
    if (first.extents != second.extents) return std::nullopt;
    // A vector holds as many elements as the smallest type has: others would need several.
    for (const Access& output : second.outputs)
        if (ir::size_of(output.dtype) != ir::size_of(first.outputs[0].dtype)) return std::nullopt;
    Map both = first;
    bool touch_alike = false;
    std::vector<Expr> arguments;
    for (const Access& input : second.inputs) {
        std::optional<Expr> value;
        for (size_t j = 0; j < first.outputs.size(); ++j) {
            if (input.buffer != first.outputs[j].buffer) continue;
            if (!ops::is_equal(input, first.outputs[j])) return std::nullopt;
            value = first.values[j];
        }
        size_t k = 0;
        while (k < both.inputs.size() && !ops::is_equal(both.inputs[k], input)) ++k;
        touch_alike |= (value.has_value() || k < first.inputs.size()) &&
                       ops::moves_with_all(input, first.extents);
        if (!value) {
            if (k == both.inputs.size()) both.inputs.push_back(input);
            value = Expr::argument(static_cast<int>(k), input.dtype);
        }
        arguments.push_back(*value);
    }
    for (const Expr& value : ir::scalar::substitute(second.values, arguments))
        both.values.push_back(value);
    both.outputs.insert(both.outputs.end(), second.outputs.begin(), second.outputs.end());
    if (!touch_alike || both.inputs.size() > target.most_inputs ||
        both.outputs.size() > target.most_outputs ||
        operation_count(both.values) > target.most_operations)
        return std::nullopt;
    return both;
}

class Merger {
  public:
    Merger(Program program, const Target& target) : program_(std::move(program)), target_(target) {
        const size_t count = program_.buffers.size();
        readers_.resize(count);
        last_written_.resize(count, -1);
        last_touched_.resize(count, -1);
        last_map_reading_.resize(count, -1);
        for (const Kernel& kernel : program_.kernels)
            for (int buffer : ir::kernel::buffers_read(kernel)) ++readers_[at(buffer)];
    }

    Program run() {
        for (Kernel& kernel : program_.kernels) {
            const int place = merge(kernel);
            if (place < 0) done_.push_back(std::move(kernel));
            note(place < 0 ? static_cast<int>(done_.size()) - 1 : place);
        }
        program_.kernels = std::move(done_);
        return std::move(program_);
    }

  private:
    // The place of the kernel that `next` became a part of; -1: it is still to be placed.
    int merge(const Kernel& next) {
        const auto* map = std::get_if<Map>(&next.body);
        if (map == nullptr) return -1;
        int writer = -1, reader = -1;
        for (int buffer : ir::kernel::buffers_read(next)) {
            writer = std::max(writer, last_written_[at(buffer)]);
            reader = std::max(reader, last_map_reading_[at(buffer)]);
        }
        if (merge_into(writer, *map, next)) return writer;
        const bool is_near = static_cast<int>(done_.size()) - reader <= most_between;
        return reader > writer && is_near && merge_into(reader, *map, next) ? reader : -1;
    }

    // No kernel after that at `place` writes what `map` reads.
    bool merge_into(int place, const Map& map, const Kernel& next) {
        if (place < 0) return false;
        Kernel& kernel = done_[at(place)];
        const auto* first = std::get_if<Map>(&kernel.body);
        // It moves up to the other: nobody since may have touched what it writes.
        for (int buffer : ir::kernel::buffers_written(next))
            if (last_touched_[at(buffer)] >= place) return false;
        std::optional<Map> both = first ? joined(*first, map, target_) : std::nullopt;
        if (!both) return false;
        for (int buffer : ir::kernel::buffers_read(next)) --readers_[at(buffer)];
        for (int buffer : ir::kernel::buffers_read(kernel)) --readers_[at(buffer)];
        drop_unread_results(*both, first->outputs.size());
        kernel.body = std::move(*both);
        for (int buffer : ir::kernel::buffers_read(kernel)) ++readers_[at(buffer)];
        kernel.name = next.name;  // it still says what is done, and is unique
        kernel.comment += kernel.comment.empty() ? next.comment : "; " + next.comment;
        for (const std::string& line : next.lines)
            if (std::find(kernel.lines.begin(), kernel.lines.end(), line) == kernel.lines.end())
                kernel.lines.push_back(line);
        return true;
    }

    // Of the first `count` results, those that are temporaries which no kernel reads any more.
    void drop_unread_results(Map& map, size_t count) const {
        for (size_t j = count; j-- > 0;) {
            const int buffer = map.outputs[j].buffer;
            if (readers_[at(buffer)] > 0 ||
                program_.buffers[at(buffer)].kind != BufferKind::temporary)
                continue;
            map.outputs.erase(map.outputs.begin() + static_cast<std::ptrdiff_t>(j));
            map.values.erase(map.values.begin() + static_cast<std::ptrdiff_t>(j));
        }
    }

    void note(int place) {
        const bool is_map = std::holds_alternative<Map>(done_[at(place)].body);
        for (int buffer : ir::kernel::buffers_read(done_[at(place)])) {
            last_touched_[at(buffer)] = std::max(last_touched_[at(buffer)], place);
            if (is_map) last_map_reading_[at(buffer)] = place;
        }
        for (int buffer : ir::kernel::buffers_written(done_[at(place)])) {
            last_touched_[at(buffer)] = std::max(last_touched_[at(buffer)], place);
            last_written_[at(buffer)] = std::max(last_written_[at(buffer)], place);
        }
    }

    Program program_;
    const Target& target_;
    std::vector<Kernel> done_;
    std::vector<int> readers_;  // kernels that read each buffer
    std::vector<int> last_written_, last_touched_, last_map_reading_;  // the last of done_
};

}  // namespace

Program merge_maps(Program program, const Target& target) {
    if (has_one_kernel(program)) return without_unused_buffers(std::move(program));
    const auto merged = [&](Program kernels) { return Merger(std::move(kernels), target).run(); };
    return without_unused_buffers(merged(within_repeats(std::move(program), merged)));
}

}  // namespace composit::transforms
