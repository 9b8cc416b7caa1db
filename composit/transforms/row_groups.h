// Kernels on the way into a group that shares rows, and what each of their accesses touches of it.
#pragma once

#include "composit/ir/kernel/loops.h"
#include "composit/target/target.h"

#include <set>
#include <vector>

namespace composit::transforms {

// The loops that a group may share; those of schedules and of packed operands' contractions are
// not.
std::vector<ir::kernel::Loop> outer_loops(ir::kernel::Body& body);

// The rows of a block of a product: a divisor of `extent`, 0 if none will do. With fewer than
// target.enough_block_rows packing takes too long; with more, those that stay in the cache.
int64_t rows_of_block(int64_t extent, int64_t bytes_of_row, const Target& target);

// An access with its strides over the outer loops apart from what the others span.
struct Reach {
    int buffer;
    std::vector<int64_t> steps;   // over the outer loops
    std::vector<int64_t> inside;  // strides over the other loops
    ir::kernel::Extents extents;  // of those
    int64_t offset;
    bool is_written;

    // Whether the innermost of `shared` loops goes along rows while those inside go down them.
    bool is_across_rows(size_t shared) const;
};

// A kernel without outer loops of one iteration.
struct Candidate {
    ir::kernel::Kernel kernel;
    ir::kernel::Extents outer;
    std::vector<Reach> reaches;
    // Of products: that many outer loops move both operands; what it gives and takes is too wide to
    // stay in the cache, and can be cut into rows.
    size_t batch = 0;
    bool is_product = false, is_wide = false;

    Candidate(const ir::kernel::Kernel& original, const Target& target);
    bool is_cut(size_t shared) const { return is_product && shared > batch; }

  private:
    void find_reaches(const std::vector<ir::kernel::Loop>& loops);
};

// Whether, with `shared` loops, everything that the access touches lies in [0, step) of the
// innermost shared loop's step, and the shared loops move through the buffer like through an array.
bool stays_in_its_part(const Reach& reach, const ir::kernel::Extents& outer, size_t shared);

bool move_together(const Reach& a, const Reach& b, size_t shared);

// Kernels that share loops.
struct Group {
    std::vector<Candidate> members;
    std::vector<ir::kernel::Kernel> originals;  // the members as they were
    size_t shared = 0;                          // loops
    std::set<int> read, written;                // buffers

    void add(Candidate next, ir::kernel::Kernel kernel);
    // Whether `next` has to come after the group: it reads or writes what the group writes, or
    // writes what the group reads.
    bool precedes(const Candidate& next) const;
};

}  // namespace composit::transforms
