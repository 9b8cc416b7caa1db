// Primitives that move elements.
#include "composit/base/error.h"
#include "composit/jax/rules.h"

#include <algorithm>

namespace composit::jax {
namespace {

Tensor broadcast_in(const Tensor& x, const Shape& shape, const Axes& axes) {
    Shape spread(shape.size(), 1);
    for (size_t d = 0; d < axes.size(); ++d) spread[static_cast<size_t>(axes[d])] = x.shape()[d];
    return ops::broadcast_to(ops::reshape(x, spread), shape);
}

Tensor without(const Tensor& x, const Axes& axes) {
    Shape shape;
    for (int64_t d = 0; d < x.rank(); ++d)
        if (std::find(axes.begin(), axes.end(), d) == axes.end())
            shape.push_back(x.shape()[static_cast<size_t>(d)]);
    return ops::reshape(x, shape);
}

Tensor sliced(const Application& a) {
    const Axes &starts = a.axes("start_indices"), &ends = a.axes("limit_indices");
    const Axes steps = a.axes_or("strides", Axes(starts.size(), 1));
    Axes lengths;
    for (size_t d = 0; d < starts.size(); ++d)
        lengths.push_back((ends[d] - starts[d] + steps[d] - 1) / steps[d]);
    return ops::slice(a.x[0], starts, lengths, steps);
}

// (low, high, interior) for each axis, in a row.
Tensor padded(const Application& a) {
    const Axes& all = a.axes("padding_config");
    Axes low, high, interior;
    for (size_t d = 0; d < all.size(); d += 3) {
        low.push_back(all[d]);
        high.push_back(all[d + 1]);
        interior.push_back(all[d + 2]);
    }
    return ops::pad(a.x[0], a.x[1], low, high, interior);
}

// With an axis of length 1 at that place.
Tensor with_axis(const Tensor& x, int64_t axis) {
    Shape shape = x.shape();
    shape.insert(shape.begin() + axis, 1);
    return ops::reshape(x, shape);
}

Tensor stacked(const Tensors& parts, int64_t axis) {
    Tensors apart;
    for (const Tensor& part : parts) apart.push_back(with_axis(part, axis));
    return ops::concatenate(apart, axis);
}

Tensors unstacked(const Tensor& x, int64_t axis) {
    const auto count = x.shape()[static_cast<size_t>(axis)];
    Tensors parts;
    for (const Tensor& part : ops::split(x, Axes(static_cast<size_t>(count), 1), axis))
        parts.push_back(without(part, {axis}));
    return parts;
}

// x so many times along each of its axes.
Tensor tiled(const Tensor& x, const Axes& times) {
    Shape apart, wide, whole;
    for (size_t d = 0; d < times.size(); ++d) {
        const int64_t length = x.shape()[d];
        apart.insert(apart.end(), {1, length});
        wide.insert(wide.end(), {times[d], length});
        whole.push_back(times[d] * length);
    }
    return ops::reshape(ops::broadcast_to(ops::reshape(x, apart), wide), whole);
}

Tensor counters(const Application& a) {
    const Tensor places = ops::iota(a.axes("shape"), a.integer("dimension"));
    return ops::astype(places, a.dtype("dtype"));
}

}  // namespace

void add_layout_primitives(ApplyRules& rules) {
    rules["broadcast_in_dim"] = [](const Application& a) {
        return Tensors{broadcast_in(a.x[0], a.axes("shape"), a.axes("broadcast_dimensions"))};
    };
    rules["reshape"] = [](const Application& a) {
        return Tensors{ops::reshape(a.x[0], a.axes("new_sizes"))};
    };
    rules["squeeze"] = [](const Application& a) {
        return Tensors{without(a.x[0], a.axes("dimensions"))};
    };
    rules["expand_dims"] = [](const Application& a) {
        Shape shape = a.x[0].shape();
        for (const int64_t axis : a.axes("dimensions")) shape.insert(shape.begin() + axis, 1);
        return Tensors{ops::reshape(a.x[0], shape)};
    };
    rules["transpose"] = [](const Application& a) {
        return Tensors{ops::transpose(a.x[0], a.axes("permutation"))};
    };
    rules["rev"] = [](const Application& a) {
        return Tensors{reversed(a.x[0], a.axes("dimensions"))};
    };
    rules["concatenate"] = [](const Application& a) {
        return Tensors{ops::concatenate(a.x, a.integer("dimension"))};
    };
    rules["stack"] = [](const Application& a) { return Tensors{stacked(a.x, a.integer("axis"))}; };
    rules["unstack"] = [](const Application& a) { return unstacked(a.x[0], a.integer("axis")); };
    rules["tile"] = [](const Application& a) { return Tensors{tiled(a.x[0], a.axes("reps"))}; };
    rules["split"] = [](const Application& a) {
        return ops::split(a.x[0], a.axes("sizes"), a.integer("axis"));
    };
    rules["slice"] = [](const Application& a) { return Tensors{sliced(a)}; };
    rules["pad"] = [](const Application& a) { return Tensors{padded(a)}; };
    rules["iota"] = [](const Application& a) { return Tensors{counters(a)}; };
}

}  // namespace composit::jax
