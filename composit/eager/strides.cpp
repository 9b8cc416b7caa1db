#include "composit/eager/strides.h"

#include "composit/base/error.h"
#include "composit/ir/attribute.h"
#include "composit/ir/operation.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace composit::eager {
namespace {

using ir::Node;
using ir::Shape;
using Axes = std::vector<int64_t>;

const Axes& axes_of(const Node& node, std::string_view name) {
    return node.attributes().get<Axes>(name);
}

// Axes are joined where their elements follow each other, and divided again: NumPy's rule for
// reshapes that copy nothing.
std::optional<Strides> reshaped(const Shape& old_shape, const Strides& old_strides,
                                const Shape& shape) {
    if (ir::element_count(shape) == 0) return ir::row_major_strides(shape);
    Shape lengths;
    Strides steps;
    for (size_t d = 0; d < old_shape.size(); ++d) {
        if (old_shape[d] == 1) continue;
        lengths.push_back(old_shape[d]);
        steps.push_back(old_strides[d]);
    }
    Strides strides(shape.size());
    size_t old_axis = 0, axis = 0;
    while (axis < shape.size() && old_axis < lengths.size()) {
        int64_t count = shape[axis], old_count = lengths[old_axis];
        size_t end = axis + 1, old_end = old_axis + 1;
        while (count != old_count)
            if (count < old_count)
                count *= shape[end++];
            else
                old_count *= lengths[old_end++];
        for (size_t d = old_axis; d + 1 < old_end; ++d)
            if (steps[d] != lengths[d + 1] * steps[d + 1]) return {};
        strides[end - 1] = steps[old_end - 1];
        for (size_t d = end - 1; d > axis; --d) strides[d - 1] = strides[d] * shape[d];
        axis = end;
        old_axis = old_end;
    }
    // What is left are axes of one element.
    const int64_t last = axis > 0 ? strides[axis - 1] : 1;
    for (; axis < shape.size(); ++axis) strides[axis] = last;
    return strides;
}

// Of output `output` of one layout operation.
std::optional<Region> region_after(const Node& node, int output, Region region) {
    const std::string& name = node.operation().name;
    const Shape& shape = node.types()[static_cast<size_t>(output)].shape;
    const Shape& old_shape = node.operand(0).shape();
    Strides& strides = region.strides;
    if (name == "reshape") {
        std::optional<Strides> found = reshaped(old_shape, strides, shape);
        if (!found) return {};
        strides = std::move(*found);
    } else if (name == "transpose") {
        Strides turned;
        for (const int64_t axis : axes_of(node, "axes"))
            turned.push_back(strides[static_cast<size_t>(axis)]);
        strides = std::move(turned);
    } else if (name == "slice") {
        const Axes &starts = axes_of(node, "starts"), &steps = axes_of(node, "steps");
        for (size_t d = 0; d < steps.size(); ++d) {
            region.offset += starts[d] * strides[d];
            strides[d] *= steps[d];
        }
    } else if (name == "element") {
        const Axes& position = axes_of(node, "position");
        for (size_t d = 0; d < position.size(); ++d) region.offset += position[d] * strides[d];
        strides.clear();
    } else if (name == "split") {
        const Axes& lengths = axes_of(node, "lengths");
        const auto axis = static_cast<size_t>(node.attributes().get<int64_t>("axis"));
        for (int before = 0; before < output; ++before)
            region.offset += lengths[static_cast<size_t>(before)] * strides[axis];
    } else {
        internal_check(name == "broadcast_to", name, " is no layout operation");
        Strides wide;
        const size_t added = shape.size() - old_shape.size();
        for (size_t d = 0; d < shape.size(); ++d) {
            const bool is_repeated = d < added || (old_shape[d - added] == 1 && shape[d] != 1);
            wide.push_back(is_repeated ? 0 : strides[d - added]);
        }
        strides = std::move(wide);
    }
    return region;
}

bool is_dense(const Shape& shape, const Strides& strides, bool by_columns) {
    int64_t step = 1;
    for (size_t i = 0; i < shape.size(); ++i) {
        const size_t d = by_columns ? i : shape.size() - 1 - i;
        if (shape[d] == 0) return true;
        if (shape[d] != 1 && strides[d] != step) return ir::element_count(shape) == 0;
        step *= shape[d];
    }
    return true;
}

}  // namespace

std::optional<Region> region_through(const ir::Tensor& from, Region region, const ir::Tensor& to) {
    std::vector<const ir::Tensor*> path;
    for (const ir::Tensor* at = &to; !(*at == from); at = &at->node().operand(0))
        path.push_back(at);
    std::optional<Region> result = std::move(region);
    for (auto at = path.rbegin(); at != path.rend() && result; ++at)
        result = region_after((*at)->node(), (*at)->output_index(), std::move(*result));
    return result;
}

Strides elementwise_strides(const Shape& shape, const std::vector<Laid>& operands) {
    const auto stride_of = [&](const Laid& operand, size_t axis) -> int64_t {
        const size_t added = shape.size() - operand.shape.size();
        if (axis < added || operand.shape[axis - added] == 1) return 0;
        return std::abs(operand.strides[axis - added]);
    };
    // Whether axis `a`, which comes before `b`, belongs behind it: the first operand that has steps
    // along both says so, and none says the contrary.
    const auto belongs_behind = [&](size_t a, size_t b) {
        bool found = false;
        for (const Laid& operand : operands) {
            const int64_t step_a = stride_of(operand, a), step_b = stride_of(operand, b);
            if (step_a == 0 || step_b == 0) continue;
            if (step_a >= step_b) return false;
            found = true;
        }
        return found;
    };
    const auto is_silent = [&](size_t a, size_t b) {
        return std::none_of(operands.begin(), operands.end(), [&](const Laid& operand) {
            return stride_of(operand, a) != 0 && stride_of(operand, b) != 0;
        });
    };
    std::vector<size_t> order;  // of axes, the slowest first
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        size_t place = order.size();
        for (size_t before = order.size(); before-- > 0;) {
            if (is_silent(order[before], axis)) continue;
            if (!belongs_behind(order[before], axis)) break;
            place = before;
        }
        order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), axis);
    }
    Strides strides(shape.size());
    int64_t step = 1;
    for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
        strides[*axis] = step;
        step *= std::max<int64_t>(shape[*axis], 1);
    }
    return strides;
}

std::vector<int64_t> position_of(int64_t place, const Shape& shape) {
    std::vector<int64_t> position(shape.size());
    for (size_t d = shape.size(); d-- > 0;) {
        position[d] = place % shape[d];
        place /= shape[d];
    }
    return position;
}

Strides strides_of_copy(const Shape& shape, const Strides& strides) {
    std::vector<size_t> axes(shape.size());
    std::iota(axes.begin(), axes.end(), size_t{0});
    std::stable_sort(axes.begin(), axes.end(),
                     [&](size_t a, size_t b) { return strides[a] > strides[b]; });
    Shape ordered_shape;
    Strides ordered;
    for (const size_t axis : axes) {
        ordered_shape.push_back(shape[axis]);
        ordered.push_back(strides[axis]);
    }
    return is_row_major(ordered_shape, ordered) ? strides : ir::row_major_strides(shape);
}

bool is_row_major(const Shape& shape, const Strides& strides) {
    return is_dense(shape, strides, false);
}
bool is_column_major(const Shape& shape, const Strides& strides) {
    return is_dense(shape, strides, true);
}

}  // namespace composit::eager
