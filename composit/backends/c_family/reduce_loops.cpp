#include "composit/backends/c_family/reduce_loops.h"

#include "composit/backends/c_family/kernel_loops.h"

#include <algorithm>
#include <cstdlib>

namespace composit::c_family {

using ir::kernel::Access;

ReduceLoops::ReduceLoops(const ir::kernel::Reduce& reduce) {
    const auto count = static_cast<std::ptrdiff_t>(reduce.kept.size());
    LoopNest around{reduce.kept, {reduce.output}}, inside{reduce.reduced, {}};
    for (const Access& input : reduce.inputs) {
        Access outer = input, inner = input;
        outer.strides.assign(input.strides.begin(), input.strides.begin() + count);
        inner.strides.assign(input.strides.begin() + count, input.strides.end());
        around.accesses.push_back(outer);
        inside.accesses.push_back(inner);
    }
    around = sort_and_merge_loops(std::move(around), 0);
    inside = merge_loops(std::move(inside));
    kept = around.extents;
    ordered = inside.extents;
    output = around.accesses[0];
    for (size_t k = 0; k < reduce.inputs.size(); ++k) {
        inputs.push_back(around.accesses[k + 1]);
        const std::vector<int64_t>& inner = inside.accesses[k].strides;
        inputs.back().strides.insert(inputs.back().strides.end(), inner.begin(), inner.end());
    }
}

ReduceLoops::ReduceLoops(const ir::kernel::Scan& scan) {
    LoopNest around{{scan.extents.begin(), scan.extents.end() - 1}, {scan.output}};
    around.accesses.insert(around.accesses.end(), scan.inputs.begin(), scan.inputs.end());
    std::vector<int64_t> steps;
    for (Access& access : around.accesses) {
        steps.push_back(access.strides.back());
        access.strides.pop_back();
    }
    around = sort_and_merge_loops(std::move(around), 0);
    for (size_t k = 0; k < steps.size(); ++k) around.accesses[k].strides.push_back(steps[k]);
    kept = around.extents;
    ordered = {scan.extents.back()};
    output = around.accesses[0];
    inputs.assign(around.accesses.begin() + 1, around.accesses.end());
}

bool ReduceLoops::runs_along_columns() const {
    constexpr int64_t far = 16;  // elements: a cache line, and as bad as any further
    if (kept.empty() || ordered.empty() || kept.back() < 8) return false;
    int64_t along_kept = 0, along_ordered = 0;
    for (const Access& input : inputs) {
        if (input.buffer == Access::position) continue;
        along_kept += std::min(far, std::abs(input.strides[kept.size() - 1]));
        along_ordered += std::min(far, std::abs(input.strides[kept.size() + ordered.size() - 1]));
    }
    return along_kept < along_ordered;
}

}  // namespace composit::c_family
