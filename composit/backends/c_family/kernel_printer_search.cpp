// Prints a Search: tables of extents and strides for the prelude's loops.
#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

#include <cmath>

namespace composit::c_family {

namespace {

using ir::kernel::Access;

void print_body(KernelText& writer, const ir::kernel::Search& search) {
    if (ir::element_count(search.extents) == 0) return;
    const int64_t length = search.row[0], stride = search.sorted.strides.back();
    Access rows = search.sorted;
    rows.strides.pop_back();
    const LoopNest outer = merge_loops({search.extents, {rows, search.values, search.output}});
    const int64_t count = ir::element_count(outer.extents);
    const std::string element =
        search.values.dtype == ir::DType::boolean ? "uint8_t" : type_name(search.values.dtype);
    const double work =
        static_cast<double>(count) * (std::log2(static_cast<double>(length) + 1) + 1);
    writer.printed.prelude = {"search.h"};
    writer.printed.tasks = choose_split({count}, work) < 0 ? 1 : count;
    const std::vector<std::string> tables = {
        writer.loops("outer", outer.extents),
        writer.constants("sorted_outer", outer.accesses[0].strides),
        writer.constants("values_outer", outer.accesses[1].strides),
        writer.constants("output_outer", outer.accesses[2].strides)};
    const std::string task = writer.names.claim("values");
    writer.code.add(text("const SearchTask<", element, "> ", task, " = {"));
    writer.code.add(text("    ", writer.place(start_of(search.sorted), {}, element, false), ", ",
                         writer.place(start_of(search.values), {}, element, false), ", ",
                         writer.place(start_of(search.output), {}, "int64_t", true), ","));
    writer.code.add(text("    ", join(tables), ", ", length, ", ", stride, ", ",
                         search.is_right ? "true" : "false", "};"));
    const bool has_range = writer.printed.tasks > 1;
    writer.code.add(text("search_rows(", task, ", ", has_range ? "begin" : "0", ", ",
                         has_range ? "end" : text(count), ");"));
}

const bool prints_search = printers().add<ir::kernel::Search, print_body>();

}  // namespace

}  // namespace composit::c_family
