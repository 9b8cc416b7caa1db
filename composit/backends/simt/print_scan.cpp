// Prints a Scan: one thread a row, from the left to the right.
#include "composit/backends/c_family/combining.h"
#include "composit/backends/c_family/reduce_loops.h"
#include "composit/backends/simt/kernel_text.h"
#include "composit/base/error.h"
#include "composit/base/text.h"

namespace composit::simt {

namespace {

void print_body(KernelText& kernel, const ir::kernel::Scan& scan) {
    if (ir::element_count(scan.extents) == 0) return;
    internal_check(!scan.extents.empty(), "a scan needs a loop to run along");
    const c_family::ReduceLoops loops(scan);
    const int64_t rows = ir::element_count(loops.kept), length = loops.ordered[0];
    FunctionText f(kernel, kernel.name);
    ir::kernel::Extents all = loops.kept;
    all.push_back(length);
    std::vector<ir::kernel::Access> accesses = loops.inputs;
    accesses.push_back(loops.output);
    f.index_type(all, accesses);
    const Combining c(f.dialect().scalars, scan.combiner, scan.value.dtype(), f.index(), length);
    const std::string row = f.thread_number(rows);
    std::vector<std::string> indices = f.unflatten(row, loops.kept, "jklmno");
    const Combining::State state = c.claim(f.names);
    for (const std::string& line : c.declare(state)) f.code.add(line);
    const std::string s = f.names.claim("s");
    indices.push_back(s);
    f.code.add("#pragma unroll 4");
    f.code.open(text("for (", f.index(), " ", s, " = 0; ", s, " < ", length, "; ++", s, ")"));
    const FunctionText::Computed computed = f.compute({scan.value}, loops.inputs, indices);
    for (const std::string& line : computed.lines) f.code.add(line);
    for (const std::string& line : c.add(state, computed.results[0], s, computed.names))
        f.code.add(line);
    f.code.add(f.element(loops.output, indices) + " = " + state.value + ";");
    f.code.close();
    f.launch_over(rows);
}

const bool prints_scan = printers().add<ir::kernel::Scan, print_body>();

}  // namespace

}  // namespace composit::simt
