// Prints a Fold: one thread for each element of the output, which adds up the windows on it.
#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/simt/kernel_text.h"
#include "composit/base/text.h"

namespace composit::simt {
namespace {

using ir::kernel::Access;
using ir::kernel::Fold;

// Loops over the output in the order of its memory; behind the output the input's strides over the
// outer loops, then for each spatial axis one access whose address is the position.
c_family::LoopNest loops_of(const Fold& fold) {
    const size_t outer = fold.outer.size(), axes = fold.positions.size();
    c_family::LoopNest nest{fold.outer, {fold.output}};
    nest.extents.insert(nest.extents.end(), fold.positions.begin(), fold.positions.end());
    Access input = fold.input;
    input.strides.resize(outer);
    input.strides.resize(outer + axes, 0);
    nest.accesses.push_back(input);
    for (size_t d = 0; d < axes; ++d) {
        Access position;
        position.strides.assign(outer + axes, 0);
        position.strides[outer + d] = 1;
        nest.accesses.push_back(position);
    }
    return c_family::sort_and_merge_loops(std::move(nest), 0);
}

void print_body(KernelText& kernel, const Fold& fold) {
    const c_family::LoopNest nest = loops_of(fold);
    const int64_t count = ir::element_count(nest.extents);
    if (count == 0) return;
    const size_t outer = fold.outer.size(), axes = fold.positions.size();
    FunctionText f(kernel, kernel.name);
    f.index_type(ir::kernel::concatenate({fold.outer, fold.counts, fold.window}), {fold.input});
    if (f.index() == "int") f.index_type(nest.extents, nest.accesses);
    const std::string type = c_family::combining_type(ir::kernel::Combiner::sum, fold.output.dtype);
    const std::string number = f.thread_number(count);
    const std::vector<std::string> indices = f.unflatten(number, nest.extents, "jklmno");
    const std::string sum = f.names.claim("sum");
    std::vector<std::string> places;
    for (size_t d = 0; d < axes; ++d)
        places.push_back(
            f.declare(text("at_", d), c_family::address_text(nest.accesses[2 + d], indices)));
    f.code.add(text(type, " ", sum, " = 0;"));
    // Which window's element falls there: number q of those along the axis.
    Access element = nest.accesses[1];
    std::vector<std::string> element_indices = indices;
    std::vector<std::string> within;
    for (size_t d = 0; d < axes; ++d) {
        const std::string w = f.names.claim(text("w_", d));
        f.code.open(
            text("for (", f.index(), " ", w, " = 0; ", w, " < ", fold.window[d], "; ++", w, ")"));
        const std::string start =
            f.declare(text("start_", d), text(places[d], " - ", w, " * ", fold.dilations[d]));
        const std::string q = f.declare(text("q_", d), text(start, " / ", fold.steps[d]));
        f.code.add(text("if (", start, " < 0 || ", q, " * ", fold.steps[d], " != ", start, " || ",
                        q, " >= ", fold.counts[d], ") continue;"));
        element_indices.push_back(q);
        element.strides.push_back(fold.input.strides[outer + d]);
        within.push_back(w);
    }
    for (size_t d = 0; d < axes; ++d) {
        element_indices.push_back(within[d]);
        element.strides.push_back(fold.input.strides[outer + axes + d]);
    }
    f.code.add(text(sum, " = ", sum, " + (", type, ")", f.element(element, element_indices), ";"));
    for (size_t d = 0; d < axes; ++d) f.code.close();
    f.code.add(f.element(nest.accesses[0], indices) + " = " + sum + ";");
    f.launch_over(count);
}

const bool prints_fold = printers().add<Fold, print_body>();

}  // namespace

}  // namespace composit::simt
