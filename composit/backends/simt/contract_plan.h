// How a contraction is shared out among groups of threads.
#pragma once

#include "composit/backends/simt/contract_loops.h"

#include <cstdint>
#include <optional>

namespace composit::simt {

// A group computes `rows` x `columns` elements, in steps of `depth`; a thread of it a part of them.
struct ContractTile {
    int64_t rows, columns, depth, thread_rows, thread_columns;

    int64_t threads() const { return rows / thread_rows * (columns / thread_columns); }
};

struct ContractPlan {
    std::optional<ContractTile> tile;  // none: one thread an element
    // In so many parts the blocks of the depth are shared out; the sums of blocks are then added up
    // by a function of its own. 1: a group does all of them.
    int64_t parts = 1;
};

// `can_share`: whether the group's threads have memory in common that is quicker than the device's.
ContractPlan plan_contract(const ContractLoops& loops, const ContractArithmetic& arithmetic,
                           bool can_share);

}  // namespace composit::simt
