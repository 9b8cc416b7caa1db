// Prints Gather, Scatter and Fold: tables of extents and strides for the prelude's loops.
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

namespace composit::c_family {
namespace {

using ir::kernel::Access;
using ir::kernel::Extents;
using ir::kernel::Fold;
using ir::kernel::Gather;
using ir::kernel::Scatter;

// Strides `first` … of an access as an access of its own.
Access part(const Access& access, size_t first, size_t count) {
    Access result = access;
    auto start = access.strides.begin() + static_cast<std::ptrdiff_t>(first);
    result.strides.assign(start, start + static_cast<std::ptrdiff_t>(count));
    return result;
}

// The type that moves elements of this size.
std::string moving_type(ir::DType dtype) { return text("uint", 8 * ir::size_of(dtype), "_t"); }

// What gather and scatter share: index operands in the outer loops.
struct Indexing {
    LoopNest outer,
        inner;  // accesses of outer: moved elements, indices…; of inner: data, moved elements

    Indexing(const Extents& outer_extents, const Extents& inner_extents, const Access& data,
             const Access& moved, const std::vector<Access>& indices) {
        size_t o = outer_extents.size(), i = inner_extents.size();
        outer = {outer_extents, {part(moved, 0, o)}};
        outer.accesses.insert(outer.accesses.end(), indices.begin(), indices.end());
        inner = {inner_extents, {data, part(moved, o, i)}};
        outer = merge_loops(std::move(outer));
        inner = merge_loops(std::move(inner));
    }

    // Declares the prelude's IndexAxes; returns the initialiser.
    std::string declare_axes(KernelText& writer, const std::vector<int64_t>& axis_strides,
                             const std::vector<int64_t>& lengths) const {
        std::vector<std::string> pointers, strides;
        for (size_t j = 1; j < outer.accesses.size(); ++j) {
            pointers.push_back(writer.place(start_of(outer.accesses[j]), {}, "int64_t", false));
            strides.push_back(
                writer.constants(text("index_", j, "_strides"), outer.accesses[j].strides));
        }
        std::string at = "nullptr", steps = "nullptr";
        if (!pointers.empty()) {
            at = writer.names.claim("indices");
            steps = writer.names.claim("index_strides");
            writer.code.add(text("const int64_t* const ", at, "[] = {", join(pointers), "};"));
            writer.code.add(text("const int64_t* const ", steps, "[] = {", join(strides), "};"));
        }
        return text("{", pointers.size(), ", ", at, ", ", steps, ", ",
                    writer.constants("axis_strides", axis_strides), ", ",
                    writer.constants("axis_lengths", lengths), "}");
    }
};

// The innermost loop walks side by side through input and output: the prelude adds such runs at
// once.
int64_t take_run(LoopNest& outer) {
    if (outer.extents.empty()) return 1;
    for (const Access& access : outer.accesses)
        if (access.strides.back() != 1) return 1;
    int64_t run = outer.extents.back();
    outer.extents.pop_back();
    for (Access& access : outer.accesses) access.strides.pop_back();
    return run;
}

void print_body(KernelText& writer, const Gather& gather) {
    const int64_t outer = ir::element_count(gather.outer);
    const int64_t inner = ir::element_count(gather.inner);
    if (outer * inner == 0) return;
    Indexing indexing(gather.outer, gather.inner, gather.data, gather.output, gather.indices);
    std::string element = moving_type(gather.output.dtype);
    writer.printed.prelude = {"gather.h"};
    writer.printed.can_fault = true;
    writer.printed.tasks =
        choose_split({outer}, static_cast<double>(outer * inner)) < 0 ? 1 : outer;
    std::string axes = indexing.declare_axes(writer, gather.axis_strides, gather.axis_lengths);
    std::string outer_loops = writer.loops("outer", indexing.outer.extents);
    std::string inner_loops = writer.loops("inner", indexing.inner.extents);
    std::string data_inner = writer.constants("data_inner", indexing.inner.accesses[0].strides);
    std::string output_outer = writer.constants("output_outer", indexing.outer.accesses[0].strides);
    std::string output_inner = writer.constants("output_inner", indexing.inner.accesses[1].strides);
    std::string task = writer.names.claim("rows");
    writer.code.add(text("const GatherTask<", element, "> ", task, " = {"));
    writer.code.add(text("    ", writer.place(start_of(gather.data), {}, element, false), ", ",
                         writer.place(start_of(gather.output), {}, element, true), ","));
    writer.code.add(text("    ", outer_loops, ", ", inner_loops, ","));
    writer.code.add(text("    ", axes, ","));
    writer.code.add(text("    ", data_inner, ", ", output_outer, ", ", output_inner, "};"));
    bool has_range = writer.printed.tasks > 1;
    writer.code.add(text("return ", inner == 1 ? "gather_elements(" : "gather(", task, ", ",
                         has_range ? "begin" : "0", ", ", has_range ? "end" : text(outer), ");"));
}

void print_body(KernelText& writer, const Scatter& scatter) {
    const int64_t outer = ir::element_count(scatter.outer);
    const int64_t inner = ir::element_count(scatter.inner);
    if (outer * inner == 0) return;
    Indexing indexing(scatter.outer, scatter.inner, scatter.data, scatter.update, scatter.indices);
    std::string element = scatter.add
                              ? combining_type(ir::kernel::Combiner::sum, scatter.data.dtype)
                              : moving_type(scatter.data.dtype);
    // Adding bool is or, as NumPy has it.
    std::string operation = !scatter.add                               ? "Replace"
                            : scatter.data.dtype == ir::DType::boolean ? "Any"
                                                                       : "Sum";
    writer.printed.prelude = {"scatter.h"};
    writer.printed.can_fault = true;
    // Below this length of the inner loop, the threads would read the indices more than they write.
    constexpr int64_t worth_sharing = 1024;
    writer.printed.tasks = inner >= worth_sharing ? inner : 1;
    std::string axes = indexing.declare_axes(writer, scatter.axis_strides, scatter.axis_lengths);
    std::string outer_loops = writer.loops("outer", indexing.outer.extents);
    std::string inner_loops = writer.loops("inner", indexing.inner.extents);
    std::string data_inner = writer.constants("data_inner", indexing.inner.accesses[0].strides);
    std::string update_outer = writer.constants("update_outer", indexing.outer.accesses[0].strides);
    std::string update_inner = writer.constants("update_inner", indexing.inner.accesses[1].strides);
    std::string task = writer.names.claim("updates");
    writer.code.add(text("const ScatterTask<", element, "> ", task, " = {"));
    writer.code.add(text("    ", writer.place(start_of(scatter.update), {}, element, false), ", ",
                         writer.place(start_of(scatter.data), {}, element, true), ","));
    writer.code.add(text("    ", outer_loops, ", ", inner_loops, ","));
    writer.code.add(text("    ", axes, ","));
    writer.code.add(text("    ", data_inner, ", ", update_outer, ", ", update_inner, "};"));
    if (inner == 1) {
        writer.code.add(text("return scatter_elements<", operation, ">(", task, ", ", outer, ");"));
        return;
    }
    bool has_range = writer.printed.tasks > 1;
    writer.code.add(text("return scatter<", operation, ">(", task, ", ", has_range ? "begin" : "0",
                         ", ", has_range ? "end" : text(inner), ");"));
}

void print_body(KernelText& writer, const Fold& fold) {
    if (ir::element_count(ir::kernel::concatenate({fold.outer, fold.positions})) == 0) return;
    const size_t o = fold.outer.size(), p = fold.positions.size();
    LoopNest outer = merge_loops({fold.outer, {part(fold.input, 0, o), part(fold.output, 0, o)}});
    const int64_t run = take_run(outer);
    const int64_t tasks = ir::element_count(outer.extents);
    std::string element = combining_type(ir::kernel::Combiner::sum, fold.output.dtype);
    double work = static_cast<double>(tasks) * ir::kernel::flops({"", "", {}, fold});
    writer.printed.prelude = {"fold.h"};
    writer.printed.tasks = choose_split({tasks}, work) < 0 ? 1 : tasks;
    std::vector<std::string> tables = {
        writer.loops("outer", outer.extents),
        writer.loops("positions", fold.positions),
        writer.loops("counts", fold.counts),
        writer.loops("window", fold.window),
        writer.constants("steps", fold.steps),
        writer.constants("dilations", fold.dilations),
        writer.constants("input_outer", outer.accesses[0].strides),
        writer.constants("input_counts", part(fold.input, o, p).strides),
        writer.constants("input_window", part(fold.input, o + p, p).strides),
        writer.constants("output_outer", outer.accesses[1].strides),
        writer.constants("output_positions", part(fold.output, o, p).strides)};
    std::string task = writer.names.claim("windows");
    writer.code.add(text("const FoldTask<", element, "> ", task, " = {"));
    writer.code.add(text("    ", writer.place(start_of(fold.input), {}, element, false), ", ",
                         writer.place(start_of(fold.output), {}, element, true), ","));
    for (size_t at = 0; at < tables.size(); at += 2)
        writer.code.add(text("    ", tables[at], ", ",
                             at + 1 < tables.size() ? tables[at + 1] : text(run),
                             at + 2 < tables.size() ? "," : "};"));
    bool has_range = writer.printed.tasks > 1;
    writer.code.add(text("fold(", task, ", ", has_range ? "begin" : "0", ", ",
                         has_range ? "end" : text(tasks), ");"));
}

const bool prints_gather = printers().add<Gather, print_body>();
const bool prints_scatter = printers().add<Scatter, print_body>();
const bool prints_fold = printers().add<Fold, print_body>();

}  // namespace

}  // namespace composit::c_family
