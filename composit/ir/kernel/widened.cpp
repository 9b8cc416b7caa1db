// Batch loops that only one operand of a contraction depends on become free loops of that operand:
// a convolution's images become columns of one product, the filters are packed once for all.
#include "composit/ir/kernel/kernel.h"

namespace composit::ir::kernel {
namespace {

using Strides = std::vector<int64_t>;

// Where a batch loop of the contraction goes.
enum class Group { batch, rows, columns };

Group group_of(const Contract& c, size_t loop) {
    if (c.left.strides[loop] == 0) return Group::columns;
    return c.right.strides[loop] == 0 ? Group::rows : Group::batch;
}

// The entries of `values`, one for each batch loop, that go to `group`.
Strides chosen(const Strides& values, const std::vector<Group>& groups, Group group) {
    Strides result;
    for (size_t d = 0; d < groups.size(); ++d)
        if (groups[d] == group) result.push_back(values[d]);
    return result;
}

Strides from(const Strides& values, size_t first, size_t count) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

Contract widened(const Contract& c) {
    const size_t b = c.batch.size(), m = c.rows.size(), n = c.columns.size(), k = c.depth.size();
    std::vector<Group> groups;
    for (size_t d = 0; d < b; ++d) groups.push_back(group_of(c, d));
    const auto moved = [&](const Strides& values, Group group) {
        return chosen(values, groups, group);
    };
    const auto access = [](Access made, const std::vector<Strides>& parts) {
        made.strides = concatenate(parts);
        return made;
    };
    const Strides &left = c.left.strides, &right = c.right.strides;
    Contract wide;
    wide.batch = moved(c.batch, Group::batch);
    wide.rows = concatenate({moved(c.batch, Group::rows), c.rows});
    wide.columns = concatenate({moved(c.batch, Group::columns), c.columns});
    wide.depth = c.depth;
    wide.left = access(c.left, {moved(left, Group::batch), moved(left, Group::rows),
                                from(left, b, m), from(left, b + m, k)});
    wide.right = access(c.right, {moved(right, Group::batch), from(right, b, k),
                                  moved(right, Group::columns), from(right, b + k, n)});
    const auto like_output = [&](const Access& made) {
        const Strides& s = made.strides;
        return access(made, {moved(s, Group::batch), moved(s, Group::rows), from(s, b, m),
                             moved(s, Group::columns), from(s, b + m, n)});
    };
    wide.output = like_output(c.output);
    wide.finish = c.finish;
    for (auto* accesses : {&wide.finish.inputs, &wide.finish.outputs})
        for (Access& made : *accesses) made = like_output(made);
    return wide;
}

}  // namespace composit::ir::kernel
