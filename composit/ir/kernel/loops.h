// The loops of a kernel, whatever its body: where each extent stands and which strides belong to
// it, so that a transformation can cut, leave out or reorder loops without knowing the body.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace composit::ir::kernel {

// Valid until the body changes.
struct Loop {
    Extents* extents = nullptr;
    size_t at = 0;               // in *extents
    std::vector<int> stride_at;  // in each of accesses(body), in that order; -1: does not move it
    bool is_outer = false;       // LoopRole::outer (fields.h)
    bool can_be_cut = true;      // into a loop of loops, in the same order

    int64_t extent() const { return (*extents)[at]; }
};

// In the order in which the body lists its extents; none of a Fused, a Repeat or a Foreign. The
// columns of a contraction are not among the outer loops: those are batch and rows.
std::vector<Loop> loops(Body& body);

// Whether loops over these extents go through neighbouring elements, the last one fastest: where a
// loop has one iteration its stride is no matter, and where one has none, all are.
bool is_row_major(const Extents& extents, const std::vector<int64_t>& strides);

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

// The loops that move an access (its number among accesses(body)), each of several iterations, from
// the longest stride to the shortest.
std::vector<Loop> loops_that_move(Body& body, size_t access);

// The strides of loops that go through `count` neighbouring elements, each once; nothing if these
// do not.
std::optional<std::set<int64_t>> steps_through(Body& body, size_t access, int64_t count);

// Cuts the loops that move an access where `steps` has strides between theirs; false if some lie
// inside iterations. Two kernels that hand on a buffer go through it in the same loops when each
// is cut at the steps of the other.
bool cut_loops_at(Body& body, size_t access, const std::set<int64_t>& steps);

}  // namespace composit::ir::kernel
