// Contractions that are printed as loops of their own, without the prelude's blocks and tiles.
#pragma once

#include "composit/backends/c_family/kernel_text.h"

namespace composit::c_family {

// Windows of single filters, integers and bools.
void print_plainly(KernelText& writer, const ir::kernel::Contract& c, const ContractGroups& groups);

}  // namespace composit::c_family
