// Loop nests as they are printed: merged where all accesses allow it, the innermost along memory.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <string>
#include <vector>

namespace composit::c_family {

// Loops and what is accessed in them; the strides of each access belong to the loops.
struct LoopNest {
    ir::kernel::Extents extents;
    std::vector<ir::kernel::Access> accesses;
};

// `access` over `count` of its loops, from loop `first` on.
ir::kernel::Access access_over(const ir::kernel::Access& access, size_t first, size_t count);

// The same indices in the same order with as few loops as possible: loops of one iteration are
// dropped, neighbours merged where every access walks through them as through one.
LoopNest merge_loops(LoopNest nest);
// Where the order is free: the loops sorted so that accesses[leader] walks through memory; and then
// merged.
LoopNest sort_loops(const LoopNest& nest, size_t leader);
LoopNest sort_and_merge_loops(LoopNest nest, size_t leader);

// The loop to share out among threads: the outermost one that is long, else the longest. -1: no
// loops.
int loop_to_split(const ir::kernel::Extents& extents);

// The loop along which one of the first `inputs` accesses walks in smaller steps than along the
// last one: that of a transposed operand. -1: none, or one that is small. It pays to go through the
// last loop in strips then, around this one.
int transposed_loop(const LoopNest& nest, size_t inputs);
// Of such a strip: few enough for a cache in which all of them may belong to one place.
int64_t columns_of_strip(ir::DType written);

// "i * 16 + j + 3"; indices[d] is the text of loop d's index, an expression in parentheses or a
// name.
std::string address_text(const ir::kernel::Access& access, const std::vector<std::string>& indices);

}  // namespace composit::c_family
