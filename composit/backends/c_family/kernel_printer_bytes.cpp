// Prints a ByteContract: the prelude's product of bytes.
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

namespace composit::c_family {
namespace {

void print_body(KernelText& writer, const ir::kernel::ByteContract& c) {
    const ir::kernel::Contract product{c.batch, c.rows,  c.columns, c.depth,
                                       c.left,  c.right, c.output};
    if (ir::element_count(ir::kernel::concatenate({c.batch, c.rows, c.columns})) == 0) return;
    const ContractGroups groups(product);
    writer.printed.prelude = {"contract_bytes.h"};
    writer.printed.scratch_bytes = "byte_scratch";
    reserve_names_of_parts(writer);
    const std::string type =
        text("ByteProduct<", type_name(c.left.dtype), ", ", type_name(c.right.dtype), ">");
    const std::string name =
        declare_product(writer, product, groups, type, c.right_is_packed ? "true" : "");
    print_product_parts(
        writer, groups, ir::kernel::flops({"", "", {}, c}),
        [&](const std::vector<std::string>& bounds, ProductSplit) {
            return text("contract_bytes(", name, ", {", join(bounds), "}, scratch);");
        },
        [](ProductSplit) { return length_worth_a_copy; });
}

const bool prints_byte_contract = printers().add<ir::kernel::ByteContract, print_body>();

}  // namespace
}  // namespace composit::c_family
