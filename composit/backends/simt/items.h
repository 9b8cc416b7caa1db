// Calls of procedures in programs, as work on the items of a batch: one thread an item.
#pragma once

#include "composit/ir/kernel/kernel.h"
#include "composit/ir/procedure/procedure.h"

#include <cstdint>
#include <string>
#include <vector>

namespace composit::simt {

// What a call does for each item. A procedure that goes through rows is the one of a row, for as
// many more items.
struct CalledForItems {
    ir::procedure::Procedure procedure;  // as it is printed (for_items)
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

// What the function of a call names the buffer: "all_x"; empty where the kernel calls none.
std::string name_in_call(const ir::kernel::Kernel& kernel, int buffer);

}  // namespace composit::simt
