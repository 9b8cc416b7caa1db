// Reductions, running ones and sorting in components.
//
// Sums go part by part. Products and extremes of complex numbers need both parts at once: they are
// trees of maps, in which neighbours combine; running ones double their reach.
#include "composit/base/error.h"
#include "composit/ops/combiner_of.h"
#include "composit/ops/components.h"
#include "composit/ops/part.h"

#include <algorithm>

namespace composit::ops {

using ir::Node;

namespace {

// f over complex tensors of these components: a graph over placeholders would do the same, but the
// rows' components can be had at once.
Components combined(Combiner combiner, DType dtype, const Components& a, const Components& b) {
    const char* row = combiner == Combiner::product   ? "multiply"
                      : combiner == Combiner::maximum ? "maximum"
                                                      : "minimum";
    const Tensor x = ir::input("x", dtype, a.re.shape()), y = ir::input("y", dtype, b.re.shape());
    return map_by_components(map(row, {x, y}).node(), {a, b})[0];
}

Components each(const Components& x, const std::function<Tensor(const Tensor&)>& f) {
    return {f(x.re), f(x.im)};
}

Components joined(const Components& a, const Components& b, int64_t axis) {
    return {concatenate({a.re, b.re}, axis), concatenate({a.im, b.im}, axis)};
}

Components slice_of(const Components& x, int64_t axis, int64_t start, int64_t length) {
    return each(x, [&](const Tensor& part_of_x) { return part(part_of_x, axis, start, length); });
}

// The axes that are reduced moved behind the others, as one.
Components flattened(const Components& x, const Axes& axes, Shape& kept) {
    Axes order;
    for (int64_t d = 0; d < x.re.rank(); ++d)
        if (std::find(axes.begin(), axes.end(), d) == axes.end()) {
            order.push_back(d);
            kept.push_back(x.re.shape()[static_cast<size_t>(d)]);
        }
    order.insert(order.end(), axes.begin(), axes.end());
    Shape flat = kept;
    flat.push_back(1);
    for (int64_t axis : axes) flat.back() *= x.re.shape()[static_cast<size_t>(axis)];
    return each(x, [&](const Tensor& t) { return reshape(transpose(t, order), flat); });
}

// The last axis combined away: neighbours in pairs, one that is left over waits.
Components tree(Combiner combiner, DType dtype, Components x) {
    const int64_t axis = x.re.rank() - 1;
    for (int64_t n = x.re.shape().back(); n > 1; n = x.re.shape().back()) {
        const auto every_second = [&](int64_t first) {
            return each(x, [&](const Tensor& t) {
                Axes starts(t.shape().size(), 0), steps(t.shape().size(), 1);
                Shape lengths = t.shape();
                starts.back() = first;
                lengths.back() = n / 2;
                steps.back() = 2;
                return slice(t, starts, lengths, steps);
            });
        };
        const Components next = combined(combiner, dtype, every_second(0), every_second(1));
        x = n % 2 ? joined(next, slice_of(x, axis, n - 1, 1), axis) : next;
    }
    return x;
}

Tensor is_nan(const Components& x) {
    return map("logical_or", {map("isnan", {x.re}), map("isnan", {x.im})});
}

// Where x is the extreme, or NaN where there is any: the first such place is the answer.
Tensor first_extreme(const Node& node, Combiner combiner, const Components& x, const Axes& axes,
                     bool keepdims) {
    const DType dtype = node.operand(0).dtype();
    const Combiner extreme = combiner == Combiner::argmax ? Combiner::maximum : Combiner::minimum;
    Shape kept;
    Shape with_ones = x.re.shape();
    for (int64_t axis : axes) with_ones[static_cast<size_t>(axis)] = 1;
    const Components best = each(tree(extreme, dtype, flattened(x, axes, kept)),
                                 [&](const Tensor& t) { return reshape(t, with_ones); });
    const Tensor hit =
        map("logical_and", {map("equal", {x.re, best.re}), map("equal", {x.im, best.im})});
    return reduce(Combiner::argmax, astype(map("logical_or", {is_nan(x), hit}), DType::uint8), axes,
                  keepdims);
}

// x's elements along an axis, in the order of `places`.
Tensor along(const Tensor& x, const Tensor& places, int64_t axis) {
    std::vector<Tensor> indices;
    Axes axes;
    for (int64_t d = 0; d < x.rank(); ++d) {
        indices.push_back(d == axis ? places : iota(x.shape(), d));
        axes.push_back(d);
    }
    return gather(x, indices, axes);
}

}  // namespace

std::vector<Components> reduce_by_components(const Node& node,
                                             const std::vector<Components>& operands) {
    const Components& x = operands[0];
    const auto combiner = combiner_of(node);
    if (!x.im || combiner == Combiner::sum) return each_component(node, operands);
    const Axes& axes = node.attributes().get<Axes>("axes");
    const bool keepdims = node.attributes().get<bool>("keepdims");
    const DType dtype = node.operand(0).dtype();
    if (combiner == Combiner::any || combiner == Combiner::all)
        return {{reduce(combiner, converted(x, dtype, DType::boolean).re, axes, keepdims), {}}};
    if (combiner == Combiner::argmax || combiner == Combiner::argmin)
        return {{first_extreme(node, combiner, x, axes, keepdims), {}}};
    Shape kept;
    const Components flat = flattened(x, axes, kept);
    const Shape& shape = node.types()[0].shape;
    if (flat.re.shape().back() == 0) {  // only products have a value then
        const auto number = [&](double value) {
            return full(shape, ir::constant(Array::scalar(flat.re.dtype(), value)));
        };
        return {{number(1), number(0)}};
    }
    return {each(tree(combiner, dtype, flat), [&](const Tensor& t) { return reshape(t, shape); })};
}

std::vector<Components> scan_by_components(const Node& node,
                                           const std::vector<Components>& operands) {
    Components x = operands[0];
    const auto combiner = combiner_of(node);
    if (!x.im || combiner == Combiner::sum) return each_component(node, operands);
    const int64_t axis = node.attributes().get<int64_t>("axis");
    const int64_t n = x.re.shape()[static_cast<size_t>(axis)];
    for (int64_t reach = 1; reach < n; reach *= 2) {
        const Components earlier = slice_of(x, axis, 0, n - reach);
        const Components later = slice_of(x, axis, reach, n - reach);
        x = joined(slice_of(x, axis, 0, reach),
                   combined(combiner, node.operand(0).dtype(), earlier, later), axis);
    }
    return {x};
}

// By the imaginary part, then by the real one, then by which part is NaN: a stable order of each is
// one of all.
std::vector<Components> argsort_by_components(const Node& node,
                                              const std::vector<Components>& operands) {
    const Components& x = operands[0];
    if (!x.im) return each_component(node, operands);
    const int64_t axis = node.attributes().get<int64_t>("axis");
    const Tensor re_class = astype(map("isnan", {x.re}), DType::uint8);
    const Tensor im_class = astype(map("isnan", {x.im}), DType::uint8);
    const Tensor kind = map("add", {map("add", {re_class, re_class}), im_class});
    Tensor order = argsort(x.im, axis);
    for (const Tensor& key : {x.re, kind})
        order = along(order, argsort(along(key, order, axis), axis), axis);
    return {{order, {}}};
}

}  // namespace composit::ops
