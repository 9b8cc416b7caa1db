// Prints a Pack that runs with the program: an operand of products in panels.
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

namespace composit::c_family {
namespace {

// Whoever makes the executable packs constants, by runtime/packing.h.
void print_body(KernelText& writer, const ir::kernel::Pack& pack) {
    if (pack.is_of_constant) return;
    constexpr int64_t together = 96;  // as the prelude's packed_together
    const size_t m = pack.across.size(), k = pack.depth.size();
    const LoopNest across = merge_loops({pack.across, {access_over(pack.from, 0, m)}});
    const LoopNest depth = merge_loops({pack.depth, {access_over(pack.from, m, k)}});
    const int64_t count = ir::element_count(pack.across);
    const std::string element = type_name(pack.from.dtype);
    writer.printed.prelude = {"contract_pack.h"};
    writer.printed.tasks = (count + together - 1) / together;
    const std::string name = writer.names.claim("packing");
    const std::vector<std::string> loops = {writer.loops("across", across.extents),
                                            writer.loops("depth", depth.extents)};
    const std::vector<std::string> steps = {
        writer.constants("across_strides", across.accesses[0].strides),
        writer.constants("depth_strides", depth.accesses[0].strides)};
    writer.code.add(text("const Packing<", element, "> ", name, " = {",
                         writer.place(start_of(pack.from), {}, element, false), ", ",
                         writer.place(start_of(pack.to), {}, element, true), ", ", join(loops),
                         ", ", join(steps), "};"));
    const std::string function = text("pack_whole<", pack.is_left ? "true" : "false", ">");
    if (writer.printed.tasks == 1) {
        writer.code.add(text(function, "(", name, ", 0, ", count, ");"));
        return;
    }
    writer.code.add(text("const int64_t last = end * ", together, ";"));
    writer.code.add(text(function, "(", name, ", begin * ", together, ", last < ", count,
                         " ? last : ", count, ");"));
}

const bool prints_pack = printers().add<ir::kernel::Pack, print_body>();

}  // namespace
}  // namespace composit::c_family
