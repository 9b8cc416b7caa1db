// Procedures as kernels that others may launch: one thread an item, whatever the extents.
#pragma once

#include "composit/backends/c_family/called_items.h"
#include "composit/backends/simt/dialect.h"
#include "composit/ir/procedure/procedure.h"

#include <cstdint>
#include <string>
#include <vector>

namespace composit::simt {

// A parameter of such a kernel, in the order of the text.
struct ItemParameter {
    enum class Of : uint8_t {
        array,      // array `number` of all items, one behind the other
        variable,   // number `number`: one for each item
        result,     // result `number` of each item
        extent,     // parameter `number`, one int64 for all
        items,      // how many items there are, an int64
        fault,      // a FaultRecord of zeros (fault.h)
        workspace,  // memory of all items
        bytes,      // and how many of its bytes an item has, a multiple of 8, an int64
    };
    Of of = Of::array;
    int number = -1;
    std::string name;
};

struct ItemKernel {
    std::string name, text;
    c_family::CalledForItems called;
    std::vector<ItemParameter> parameters;
};

struct ItemFile {
    std::string text;
    std::vector<ItemKernel> kernels;  // one for each procedure
};

// `names`: what the kernels are called, where nothing else has the name.
ItemFile print_items(const Dialect& dialect,
                     const std::vector<ir::procedure::Procedure>& procedures,
                     const std::vector<std::string>& names);

}  // namespace composit::simt
