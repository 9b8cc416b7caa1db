// Prints a Sort: tables of extents and strides for the prelude's loops.
#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

#include <cmath>

namespace composit::c_family {
namespace {

using ir::kernel::Access;

// The loops around the sorted one.
Access outer_of(Access access) {
    access.strides.pop_back();
    return access;
}

void print_body(KernelText& writer, const ir::kernel::Sort& sort) {
    internal_check(!sort.extents.empty(), "a sort needs a loop to run along");
    if (ir::element_count(sort.extents) == 0) return;
    const int64_t length = sort.extents.back();
    const LoopNest outer =
        merge_loops({{sort.extents.begin(), sort.extents.end() - 1},
                     {outer_of(sort.input), outer_of(sort.output), outer_of(sort.spare)}});
    const int64_t rows = ir::element_count(outer.extents);
    const std::string element =
        sort.input.dtype == ir::DType::boolean ? "uint8_t" : type_name(sort.input.dtype);
    const std::string result = sort.gives_values ? element : "int64_t";
    const double work = static_cast<double>(rows) * static_cast<double>(length) *
                        std::log2(static_cast<double>(length) + 1);
    writer.printed.prelude = {"sort.h"};
    writer.printed.tasks = choose_split({rows}, work) < 0 ? 1 : rows;
    const std::vector<std::string> tables = {
        writer.loops("outer", outer.extents),
        writer.constants("input_outer", outer.accesses[0].strides),
        writer.constants("output_outer", outer.accesses[1].strides),
        writer.constants("spare_outer", outer.accesses[2].strides)};
    const std::string task = writer.names.claim("rows");
    writer.code.add(text("const SortTask<", element, "> ", task, " = {"));
    writer.code.add(text("    ", writer.place(start_of(sort.input), {}, element, false), ", ",
                         writer.place(start_of(sort.output), {}, result, true), ", ",
                         writer.place(start_of(sort.spare), {}, result, true), ","));
    writer.code.add(
        text("    ", join(tables), ", ", length, ", ", sort.input.strides.back(), "};"));
    const bool has_range = writer.printed.tasks > 1;
    writer.code.add(text("sort_rows<", element, ", ", sort.gives_values ? "true" : "false", ">(",
                         task, ", ", has_range ? "begin" : "0", ", ",
                         has_range ? "end" : text(rows), ");"));
}

const bool prints_sort = printers().add<ir::kernel::Sort, print_body>();

}  // namespace

}  // namespace composit::c_family
