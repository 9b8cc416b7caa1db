// Prints a Sort: of positions, or of the values themselves.
#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/simt/ordering.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

namespace composit::simt {

namespace {

using ir::kernel::Access;

void print_body(KernelText& kernel, const ir::kernel::Sort& sort) {
    internal_check(!sort.extents.empty(), "a sort needs a loop to run along");
    if (ir::element_count(sort.extents) == 0) return;
    const ir::kernel::Extents outer(sort.extents.begin(), sort.extents.end() - 1);
    // Texts of an access at element `i` of a row, whose loops are taken apart there.
    const auto at = [outer](FunctionText& f, const Access& access, const std::string& row,
                            const std::string& i) {
        Access along = access;
        const int64_t step = along.strides.back();
        along.strides.pop_back();
        const c_family::LoopNest nest = c_family::merge_loops({outer, {along}});
        std::vector<std::string> indices = f.unflatten(row, nest.extents, "jklmno");
        along = nest.accesses[0];
        along.strides.push_back(step);
        indices.push_back(i);
        return f.element(along, indices);
    };
    SortedRows sorted;
    sorted.rows = ir::element_count(outer);
    sorted.length = sort.extents.back();
    sorted.dtype = sort.input.dtype;
    sorted.are_keys = sort.gives_values;
    sorted.key = [&](FunctionText& f, const std::string& row, const std::string& position) {
        return at(f, sort.input, row, position);
    };
    sorted.element = [&](FunctionText& f, bool is_spare, bool, const std::string& row,
                         const std::string& i) {
        return at(f, is_spare ? sort.spare : sort.output, row, i);
    };
    print_sort(kernel, sorted);
}

const bool prints_sort = printers().add<ir::kernel::Sort, print_body>();

}  // namespace

}  // namespace composit::simt
