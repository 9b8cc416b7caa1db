// Prints a ByteContract: the prelude's product of bytes.
#include "composit/backends/c_family/kernel_text.h"
#include "composit/backends/c_family/scalar_printer.h"
#include "composit/base/text.h"

namespace composit::c_family {
namespace {

void print_body(KernelText& writer, const ir::kernel::ByteContract& c) {
    if (ir::element_count(ir::kernel::concatenate({c.batch, c.rows, c.columns})) == 0) return;
    const ir::kernel::Product product = *ir::kernel::product_in(c);
    const ContractGroups groups(product.contract);
    writer.printed.prelude = {"contract_bytes.h"};
    writer.printed.scratch_bytes = "byte_scratch";
    reserve_names_of_parts(writer);
    const std::string name = declare_product(
        writer, product, groups,
        text("ByteProduct<", type_name(c.left.dtype), ", ", type_name(c.right.dtype), ">"));
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
