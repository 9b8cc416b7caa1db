// Loop nests with the memory accesses of their operands, brought to as few loops as possible.
#pragma once

#include "composit/ir/kernel/kernel.h"

#include <cstdint>
#include <vector>

namespace composit::interpreter {

// An access with strides over the loops of a Nest.
struct Operand {
    int buffer = ir::kernel::Access::position;
    ir::DType dtype = ir::DType::int64;
    int64_t offset = 0;
    std::vector<int64_t> strides;

    explicit Operand(const ir::kernel::Access& access);
    bool is_position() const { return buffer == ir::kernel::Access::position; }
    bool is_uniform() const;  // the same element at every index
    int64_t size() const { return ir::size_of(dtype); }
};

struct Nest {
    std::vector<int64_t> extents;
    std::vector<Operand> operands;

    int rank() const { return static_cast<int>(extents.size()); }
    int64_t iterations() const;
    int64_t iterations(int first, int last) const;  // of the loops first <= d < last
};

// Orders the loops by falling |stride| of one operand, so that it is walked in memory order.
void sort_loops(Nest& nest, size_t by_operand);

// Drops loops of length 1 and joins neighbours that are one loop to every operand, but never across
// `boundary` (a loop number). Returns the new place of the boundary.
int collapse(Nest& nest, int boundary = 0);

// The number of a multi-index over the loops first <= d < last, cut up: offsets[k] += what operand
// k moves.
void add_offsets(const Nest& nest, int first, int last, int64_t flat,
                 std::vector<int64_t>& offsets);

}  // namespace composit::interpreter
