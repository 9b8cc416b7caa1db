#include "composit/transforms/row_groups.h"

#include "composit/ir/operation.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace composit::transforms {

using ir::kernel::Access;
using ir::kernel::Body;
using ir::kernel::Extents;
using ir::kernel::Kernel;
using ir::kernel::Loop;

namespace {

bool find_wide(const ir::kernel::Contract& c, const Target& target) {
    const int64_t columns = ir::element_count(c.columns), depth = ir::element_count(c.depth);
    return c.rows.size() == 1 && std::min(columns, depth) <= target.most_narrow &&
           rows_of_block(c.rows[0], 0, target) > 0 &&
           c.rows[0] * std::max(columns, depth) * ir::size_of(c.output.dtype) >
               target.group_bytes / 4;
}

}  // namespace

std::vector<Loop> outer_loops(Body& body) {
    std::vector<Loop> found = ir::kernel::loops(body);
    std::erase_if(found, [](const Loop& loop) { return !loop.is_outer; });
    return found;
}

int64_t rows_of_block(int64_t extent, int64_t bytes_of_row, const Target& target) {
    int64_t best = 0;
    const int64_t most = std::min(extent / 2, target.most_block_rows);
    for (int64_t rows = target.least_block_rows; rows <= most; ++rows)
        if (extent % rows == 0 &&
            (best < target.enough_block_rows || rows * bytes_of_row <= target.group_bytes))
            best = rows;
    return best;
}

bool Reach::is_across_rows(size_t shared) const {
    const int64_t step = std::abs(steps[shared - 1]);
    int64_t least = 0;
    for (size_t d = 0; d < inside.size(); ++d) {
        const int64_t stride = std::abs(inside[d]);
        if (extents[d] > 1 && stride > 0 && (least == 0 || stride < least)) least = stride;
    }
    return buffer != Access::position && step > 0 && least > step;
}

Candidate::Candidate(const Kernel& original, const Target& target) : kernel(original) {
    auto loops = outer_loops(kernel.body);
    for (size_t d = loops.size(); d-- > 0;)
        if (loops[d].extent() == 1) {
            ir::kernel::erase_loop(kernel.body, loops[d]);
            loops = outer_loops(kernel.body);
        }
    for (const Loop& loop : loops) outer.push_back(loop.extent());
    if (const auto* c = std::get_if<ir::kernel::Contract>(&kernel.body))
        is_product = true, batch = c->batch.size(), is_wide = find_wide(*c, target);
    find_reaches(loops);
}

void Candidate::find_reaches(const std::vector<Loop>& loops) {
    auto places = ir::kernel::accesses_read(kernel);
    const size_t reads = places.size();
    for (auto& written : ir::kernel::accesses_written(kernel)) places.push_back(written);
    for (size_t a = 0; a < places.size(); ++a) {
        const Access& access = places[a].access;
        Reach reach{access.buffer, {},        access.strides, places[a].extents,
                    access.offset, a >= reads};
        std::vector<size_t> taken;
        for (const Loop& loop : loops) {
            const int at = a < loop.stride_at.size() ? loop.stride_at[a] : -1;
            reach.steps.push_back(ir::kernel::stride_of(access, at));
            if (at >= 0) taken.push_back(static_cast<size_t>(at));
        }
        std::sort(taken.begin(), taken.end());
        for (size_t t = taken.size(); t-- > 0;) {
            const auto at = static_cast<std::ptrdiff_t>(taken[t]);
            reach.inside.erase(reach.inside.begin() + at);
            reach.extents.erase(reach.extents.begin() + at);
        }
        reaches.push_back(std::move(reach));
    }
}

bool stays_in_its_part(const Reach& reach, const Extents& outer, size_t shared) {
    int64_t low = reach.offset, high = reach.offset;
    const auto span = [&](int64_t stride, int64_t extent) {
        (stride < 0 ? low : high) += stride * (extent - 1);
    };
    for (size_t d = 0; d < reach.inside.size(); ++d) span(reach.inside[d], reach.extents[d]);
    for (size_t d = shared; d < outer.size(); ++d) span(reach.steps[d], outer[d]);
    if (low < 0 || high >= reach.steps[shared - 1]) return false;
    for (size_t d = 0; d + 1 < shared; ++d)
        if (reach.steps[d] < reach.steps[d + 1] * outer[d + 1]) return false;
    return true;
}

bool move_together(const Reach& a, const Reach& b, size_t shared) {
    return std::equal(a.steps.begin(), a.steps.begin() + static_cast<std::ptrdiff_t>(shared),
                      b.steps.begin());
}

void Group::add(Candidate next, Kernel kernel) {
    for (const Reach& reach : next.reaches)
        (reach.is_written ? written : read).insert(reach.buffer);
    members.push_back(std::move(next));
    originals.push_back(std::move(kernel));
}

bool Group::precedes(const Candidate& next) const {
    for (const Reach& reach : next.reaches)
        if (written.contains(reach.buffer) || (reach.is_written && read.contains(reach.buffer)))
            return true;
    return false;
}

}  // namespace composit::transforms
