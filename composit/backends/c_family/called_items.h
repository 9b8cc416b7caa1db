// Calls of procedures in programs, as work on the items of a batch.
#pragma once

#include "composit/ir/kernel/kernel.h"
#include "composit/ir/procedure/procedure.h"
#include "composit/ir/scalar/function.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace composit::c_family {

// What a call does for each item. A procedure that goes through rows is the one of a row, for as
// many more items.
struct CalledForItems {
    ir::procedure::Procedure procedure;  // as it is printed (for_c)
    std::vector<int> operands;  // of each input of the kernel: parameter k, or array -1 - k
    std::vector<int> outputs;   // of each output: result k, or array -1 - k
    // Of each parameter that is an extent: the input, and which of its axes behind those of items.
    struct Extent {
        int parameter, input;
        size_t axis;
    };
    std::vector<Extent> extents;
    size_t rows = 0;  // leading axes of operands beside those of the batch
};
CalledForItems called_for_items(const ir::procedure::Procedure& procedure);
// Of the procedure of a call; it is found once.
const CalledForItems& called_in(const ir::kernel::Call& call);

// The extents of the items: those of the batch, then those of rows, which all operands have.
ir::kernel::Extents items_of(const ir::kernel::Call& call);
// The call for one item alone.
ir::kernel::Call of_item(const ir::kernel::Call& call, int64_t item);

// What is known of the procedure's parameters: extents; numbers that are constants of the program,
// or that one of its kernels alone sets, to a constant.
std::map<int, ir::scalar::Bits> known_extents(const ir::kernel::Call& call);
std::map<int, ir::scalar::Bits> known_numbers(const ir::kernel::Call& call,
                                              const ir::kernel::Program& program);
// Extents of arrays that numbers decide, and what they are taken to be: nobody checked that before
// the numbers were known.
std::vector<std::pair<ir::scalar::Expr, int64_t>> extents_of_numbers(const ir::kernel::Call& call);

// What the function of a call names the buffer: "all_x"; empty where the kernel calls none.
std::string name_in_call(const ir::kernel::Kernel& kernel, int buffer);

}  // namespace composit::c_family
