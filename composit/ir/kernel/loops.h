// The loops of a kernel, whatever its body: where each extent stands and which strides belong to
// it, so that a transformation can cut, leave out or reorder loops without knowing the body.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace composit::ir::kernel {

// Valid until the body changes.
struct Loop {
    Extents* extents = nullptr;
    size_t at = 0;               // in *extents
    std::vector<int> stride_at;  // in each of accesses(body), in that order; -1: does not move it
    bool is_outer = false;       // each index has a part of the output of its own
    bool can_be_cut = true;      // into a loop of loops, in the same order

    int64_t extent() const { return (*extents)[at]; }
};

// Of any body but Pack, Fused and Repeat, in the order in which the body lists its extents; none of
// a Foreign. The
// columns of a contraction are not among the outer loops: those are batch and rows.
std::vector<Loop> loops(Body& body);

// The loop's stride in the access; 0 when it does not move it.
inline int64_t stride_of(const Access& access, int at) {
    return at < 0 ? 0 : access.strides[static_cast<size_t>(at)];
}

// Leaves out a loop of one iteration.
void erase_loop(Body& body, const Loop& loop);

// The loop as extent / inner iterations of a loop of `inner` ones, which divides its extent.
void cut_loop(Body& body, const Loop& loop, int64_t inner);

// Puts loops of one Extents, all of those in it, into another order: the i-th is what `order[i]`
// was. They must be loops of which the body's meaning does not name the order: those of Map, kept
// ones of Reduce.
void reorder_loops(Body& body, Extents& extents, const std::vector<size_t>& order);

}  // namespace composit::ir::kernel
