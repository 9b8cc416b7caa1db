// Prints a Fused: a group of threads a part, which goes through the members together, with the
// locals in memory that the group shares. Members that do not suit that are launched one by one.
#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/c_family/reduce_loops.h"
#include "composit/backends/simt/lanes.h"
#include "composit/backends/simt/loops.h"
#include "composit/backends/simt/unfused.h"
#include "composit/base/comments.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

#include <algorithm>
#include <set>

namespace composit::simt {
namespace {

using ir::kernel::Access;
using ir::kernel::Fused;
using ir::kernel::Map;
using ir::kernel::Member;
using ir::kernel::Reduce;

constexpr int64_t most_local_bytes = 32 << 10;  // every device has as much for a group
constexpr int64_t warp = 32, longest_row = 4096;
constexpr int64_t least_threads = 64;

int64_t bytes_of_locals(const Fused& fused, const ir::kernel::Program& program) {
    int64_t bytes = 0;
    for (const int local : fused.locals) bytes += program.buffers[static_cast<size_t>(local)].bytes;
    return bytes;
}

// Rows of which each is one block of lanes.
bool has_rows(const Reduce& reduce) {
    const c_family::ReduceLoops loops(reduce);
    const int64_t count = ir::element_count(loops.ordered);
    return count > 0 && count <= longest_row && !loops.runs_along_columns();
}

class FusedPrinter {
  public:
    FusedPrinter(KernelText& kernel, const Fused& fused)
        : kernel_(kernel), fused_(fused), f_(kernel, kernel.name), threads_(least_threads) {
        for (const Member& member : fused.members) {
            if (const auto* reduce = std::get_if<Reduce>(&member.kernel.body))
                threads_ = std::max(threads_, warp * ir::element_count(reduce->kept));
        }
        threads_ = std::min(threads_, group_threads);
        double largest = static_cast<double>(ir::element_count(fused.pieces));
        for (const auto& parameter : kernel.printed.parameters)
            for (const int buffer : parameter.buffers)
                largest = std::max(largest,
                                   static_cast<double>(ir::element_count(buffer_of(buffer).shape)));
        f_.index_type({static_cast<int64_t>(largest)}, {});
    }

    void print() {
        const bool is_one_thread = f_.dialect().threads_are_loops;
        if (!is_one_thread) thread_ = f_.declare("int", "thread", f_.dialect().thread);
        const std::string part = f_.declare("part", f_.dialect().group[0]);
        pieces_ = f_.unflatten(part, fused_.pieces, "pqrstu");
        if (!is_one_thread) lane_ = f_.declare("int", "lane", text(thread_, " % ", warp));
        for (const int local : fused_.locals) {
            const auto& buffer = buffer_of(local);
            f_.bind(local,
                    f_.local_array(memory_type(buffer.dtype), buffer.name,
                                   buffer.bytes / ir::size_of(buffer.dtype), !is_one_thread));
        }
        for (size_t m = 0; m < fused_.members.size(); ++m) {
            const Member& member = fused_.members[m];
            if (m > 0 && !is_one_thread) f_.code.add(std::string(f_.dialect().barrier_of_all));
            const std::string& comment = member.kernel.comment;
            f_.code.add("// " + in_comment(comment.empty() ? member.kernel.name : comment));
            if (const auto* map = std::get_if<Map>(&member.kernel.body))
                print_map(*map, member.steps);
            else
                print_reduce(std::get<Reduce>(member.kernel.body), member.steps);
        }
        f_.launch(ir::element_count(fused_.pieces), 1, is_one_thread ? 1 : threads_);
    }

  private:
    using Steps = std::vector<std::vector<int64_t>>;

    const ir::kernel::Buffer& buffer_of(int number) const {
        return kernel_.program.buffers[static_cast<size_t>(number)];
    }

    // The access over the loops of parts, then over its own.
    Access from_parts(Access access, std::vector<int64_t> steps) const {
        steps.resize(fused_.pieces.size(), 0);
        access.strides.insert(access.strides.begin(), steps.begin(), steps.end());
        return access;
    }
    std::vector<std::string> with_pieces(const std::vector<std::string>& indices) const {
        std::vector<std::string> all = pieces_;
        all.insert(all.end(), indices.begin(), indices.end());
        return all;
    }
    void add(const std::vector<std::string>& lines) {
        for (const std::string& line : lines) f_.code.add(line);
    }

    void print_map(const Map& map, const Steps& steps) {
        c_family::LoopNest nest{map.extents, map.inputs};
        nest.accesses.insert(nest.accesses.end(), map.outputs.begin(), map.outputs.end());
        nest = c_family::sort_and_merge_loops(std::move(nest), map.inputs.size());
        for (size_t a = 0; a < nest.accesses.size(); ++a)
            nest.accesses[a] = from_parts(nest.accesses[a], steps[a]);
        const int64_t count = ir::element_count(nest.extents);
        const auto middle = nest.accesses.begin() + static_cast<std::ptrdiff_t>(map.inputs.size());
        const auto print_element = [&](const std::vector<std::string>& indices) {
            const std::vector<std::string> at = with_pieces(indices);
            const FunctionText::Computed computed =
                f_.compute(map.values, {nest.accesses.begin(), middle}, at);
            add(computed.lines);
            for (size_t j = 0; j < map.outputs.size(); ++j)
                f_.code.add(f_.element(middle[static_cast<std::ptrdiff_t>(j)], at) + " = " +
                            computed.results[j] + ";");
        };
        if (f_.dialect().threads_are_loops)
            return print_loops(f_, nest.extents, "jklmno", print_element);
        const std::string i = f_.names.claim("i");
        f_.code.add("#pragma unroll 4");
        f_.code.open(text("for (", f_.index(), " ", i, " = ", thread_, "; ", i, " < ", count, "; ",
                          i, " += ", threads_, ")"));
        print_element(f_.unflatten(i, nest.extents, "jklmno"));
        f_.code.close();
    }

    // A warp a row.
    void print_reduce(const Reduce& reduce, const Steps& steps) {
        c_family::ReduceLoops loops(reduce);
        for (size_t k = 0; k < loops.inputs.size(); ++k)
            loops.inputs[k] = from_parts(loops.inputs[k], steps[k]);
        loops.output = from_parts(loops.output, steps[reduce.inputs.size()]);
        const int64_t rows = ir::element_count(loops.kept);
        const int64_t count = ir::element_count(loops.ordered), at_a_time = threads_ / warp;
        const Combining c(f_.dialect().scalars, reduce.combiner, reduce.value.dtype(), "int",
                          count);
        const auto add_element = [&](const Combining::State& state,
                                     const std::vector<std::string>& row, const std::string& e) {
            std::vector<std::string> at = row;
            const std::vector<std::string> ordered = f_.unflatten(e, loops.ordered, "rstuvw");
            at.insert(at.end(), ordered.begin(), ordered.end());
            const FunctionText::Computed computed = f_.compute({reduce.value}, loops.inputs, at);
            add(computed.lines);
            add(c.add(state, computed.results[0], e, computed.names));
        };
        if (f_.dialect().threads_are_loops)
            return print_loops(f_, loops.kept, "jklmno", [&](const std::vector<std::string>& at) {
                const std::vector<std::string> row = with_pieces(at);
                const Combining::State result =
                    print_lanes(f_, c, "0", text(count), count,
                                [&](const Combining::State& state, const std::string& e) {
                                    add_element(state, row, e);
                                });
                f_.code.add(f_.element(loops.output, row) + " = " + c.result(result) + ";");
            });
        const Combining::State shared = shared_lanes(c);
        const std::string base = f_.names.claim("base");
        std::string wished = text(thread_, " / ", warp);
        if (rows > at_a_time) {
            f_.code.open(text("for (int ", base, " = 0; ", base, " < ", rows, "; ", base,
                              " += ", at_a_time, ")"));
            wished = text(base, " + ", wished);
        }
        std::string row = f_.declare("int", "row", wished);
        if (rows % at_a_time != 0)  // threads behind the last row do it again
            row = f_.declare("int", "row", text(row, " < ", rows, " ? ", row, " : ", rows - 1));
        const std::vector<std::string> kept = with_pieces(f_.unflatten(row, loops.kept, "jklmno"));
        const Combining::State state = c.claim(f_.names);
        add(c.declare(state));
        std::string e;
        f_.code.add("#pragma unroll 8");
        if (count % warp == 0) {  // as many for each lane: compilers see how many
            const std::string first = f_.names.claim("first");
            f_.code.open(text("for (int ", first, " = 0; ", first, " < ", count, "; ", first,
                              " += ", warp, ")"));
            e = f_.declare("int", "e", text(first, " + ", lane_));
        } else {
            e = f_.names.claim("e");
            f_.code.open(text("for (int ", e, " = ", lane_, "; ", e, " < ", count, "; ", e,
                              " += ", warp, ")"));
        }
        add_element(state, kept, e);
        f_.code.close();
        print_halving(f_, c, state, thread_, lane_, "", warp / 2, shared);
        f_.code.add(text("if (", lane_, " == 0) ", f_.element(loops.output, kept), " = ",
                         c.result(state), ";"));
        if (rows > at_a_time) {
            if (!shared.value.empty()) f_.code.add(std::string(f_.dialect().barrier));
            f_.code.close();
        }
    }

    // Arrays that lanes need to become one: the same for all members of a type.
    Combining::State shared_lanes(const Combining& c) {
        if (!needs_shared(f_.dialect(), "")) return {};
        Combining::State& lanes = shared_[c.type() + (c.finds_position() ? ", positions" : "")];
        if (lanes.value.empty()) {
            lanes = c.claim(f_.names, "lanes");
            add(c.declare_array(lanes, threads_, std::string(f_.dialect().local)));
        }
        return lanes;
    }

    KernelText& kernel_;
    const Fused& fused_;
    FunctionText f_;
    int64_t threads_;
    std::string thread_, lane_;
    std::vector<std::string> pieces_;
    std::map<std::string, Combining::State> shared_;
};

size_t operands_of(const Fused& fused) {
    std::set<int> buffers;
    for (const Member& member : fused.members) {
        ir::kernel::Body body = member.kernel.body;
        for (const Access* access : ir::kernel::accesses(body))
            if (access->buffer != Access::position) buffers.insert(access->buffer);
    }
    for (const int local : fused.locals) buffers.erase(local);
    return buffers.size();
}

}  // namespace

bool works_together(const Fused& fused, const ir::kernel::Program& program) {
    if (bytes_of_locals(fused, program) > most_local_bytes) return false;
    if (operands_of(fused) > most_operands) return false;
    return std::all_of(fused.members.begin(), fused.members.end(), [](const Member& member) {
        if (const auto* reduce = std::get_if<Reduce>(&member.kernel.body)) return has_rows(*reduce);
        return std::holds_alternative<Map>(member.kernel.body);
    });
}

namespace {

void print_body(KernelText& kernel, const Fused& fused) {
    if (ir::element_count(fused.pieces) == 0) return;
    if (works_together(fused, kernel.program)) return FusedPrinter(kernel, fused).print();
    const std::optional<Unfused> apart = unfused(fused, kernel.program);
    internal_check(apart.has_value(), "simt: the parts of ", kernel.name, " move otherwise");
    for (size_t k = 0; k < fused.locals.size(); ++k)
        kernel.locals[fused.locals[k]] = kernel.scratch(apart->local_bytes[k]);
    for (const ir::kernel::Kernel& member : apart->kernels) {
        kernel.name = member.name;
        printers()(kernel, member.body);
    }
}

const bool prints_fused = printers().add<Fused, print_body>();

}  // namespace

}  // namespace composit::simt
