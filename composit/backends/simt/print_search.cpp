// Prints a Search: one thread a value, which halves its row.
#include "composit/backends/c_family/kernel_loops.h"
#include "composit/backends/simt/kernel_text.h"
#include "composit/backends/simt/ordering.h"
#include "composit/base/text.h"

namespace composit::simt {

namespace {

using ir::kernel::Access;

void print_body(KernelText& kernel, const ir::kernel::Search& search) {
    const int64_t count = ir::element_count(search.extents), length = search.row[0];
    if (count == 0) return;
    Access rows = search.sorted;
    const int64_t stride = rows.strides.back();
    rows.strides.pop_back();
    const c_family::LoopNest nest =
        c_family::sort_and_merge_loops({search.extents, {search.output, search.values, rows}}, 0);
    FunctionText f(kernel, kernel.name);
    Access along = nest.accesses[2];
    along.strides.push_back(stride);
    f.index_type(ir::kernel::concatenate({nest.extents, {length}}), {along});
    const std::string type = memory_type(search.values.dtype);
    const std::string number = f.thread_number(count);
    std::vector<std::string> indices = f.unflatten(number, nest.extents, "jklmno");
    const std::string value = f.declare(type, "value", f.element(nest.accesses[1], indices));
    const std::string low = f.names.claim("low"), high = f.names.claim("high");
    f.code.add(text(f.index(), " ", low, " = 0, ", high, " = ", length, ";"));
    f.code.open(text("while (", low, " < ", high, ")"));
    const std::string middle = f.declare("middle", text("(", low, " + ", high, ") / 2"));
    std::vector<std::string> at = indices;
    at.push_back(middle);
    const std::string element = f.declare(type, "element", f.element(along, at));
    const ir::DType dtype = search.values.dtype;
    const std::string comes_first = search.is_right
                                        ? text("!(", is_before(value, element, dtype), ")")
                                        : is_before(element, value, dtype);
    f.code.add(text("if (", comes_first, ")"));
    f.code.add(text("    ", low, " = ", middle, " + 1;"));
    f.code.add("else");
    f.code.add(text("    ", high, " = ", middle, ";"));
    f.code.close();
    f.code.add(f.element(nest.accesses[0], indices) + " = " + low + ";");
    f.launch_over(count);
}

const bool prints_search = printers().add<ir::kernel::Search, print_body>();

}  // namespace

}  // namespace composit::simt
