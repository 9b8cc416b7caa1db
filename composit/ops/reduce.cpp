// reduce: axes combined away; scan: running combination along an axis.
#include "composit/base/error.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/components.h"
#include "composit/ops/lift.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"
#include "composit/ops/rules.h"
#include "composit/ops/small_reduce.h"

#include <algorithm>

namespace composit::ops {

using ir::scalar::Expr;

namespace {

Combiner combiner_of(const Attributes& attributes) {
    return static_cast<Combiner>(attributes.get<int64_t>("combiner"));
}

bool is_reduced(const Axes& axes, size_t d) {
    return std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
}

Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdims) {
    Shape result;
    for (size_t d = 0; d < shape.size(); ++d) {
        if (!is_reduced(axes, d))
            result.push_back(shape[d]);
        else if (keepdims)
            result.push_back(1);
    }
    return result;
}

DType result_dtype(Combiner combiner, DType x) {
    switch (combiner) {
        case Combiner::any:
        case Combiner::all: return DType::boolean;
        case Combiner::argmax:
        case Combiner::argmin: return DType::int64;
        case Combiner::sum:
        case Combiner::product:
        case Combiner::maximum:
        case Combiner::minimum: return x;
    }
    return x;
}

std::vector<TensorType> infer_reduce(const std::vector<Tensor>& operands,
                                     const Attributes& attributes) {
    const Combiner combiner = combiner_of(attributes);
    const Axes& axes = attributes.get<Axes>("axes");
    const Tensor& x = operands[0];
    const bool has_identity = combiner == Combiner::sum || combiner == Combiner::product ||
                              combiner == Combiner::any || combiner == Combiner::all;
    int64_t reduced = 1;
    for (int64_t axis : axes) reduced *= x.shape()[static_cast<size_t>(axis)];
    const Shape shape = reduced_shape(x.shape(), axes, attributes.get<bool>("keepdims"));
    if (reduced == 0 && !has_identity && ir::element_count(shape) >= 0) {
        if (combiner == Combiner::maximum || combiner == Combiner::minimum)
            fail<ValueError>("zero-size array to reduction operation ", name(combiner),
                             " which has no identity. (shape ", x.shape(), ", axes ", axes, ")");
        fail<ValueError>("attempt to get ", name(combiner), " of an empty sequence. (shape ",
                         x.shape(), ")");
    }
    return {{shape, result_dtype(combiner, x.dtype())}};
}

// g, shaped like the result, as a tensor of x's shape.
Tensor spread(const Tensor& g, const Tensor& x, const Axes& axes) {
    return broadcast_to(reshape(g, reduced_shape(x.shape(), axes, true)), x.shape());
}

// The first and the last `length` elements of the last axis.
Tensor head(const Tensor& x, int64_t length) { return part(x, x.rank() - 1, 0, length); }
Tensor tail(const Tensor& x, int64_t length) {
    return part(x, x.rank() - 1, x.shape().back() - length, length);
}

Tensor ones(const Tensor& like, int64_t length) {  // like's shape with another last length
    Shape shape = like.shape();
    shape.back() = length;
    return full(shape, ir::constant(Array::scalar(like.dtype(), 1), "scalar_1.0"));
}

// The product's gradient through a balanced tree of multiplications: no division, so zeros need no
// special case.
Tensor product_gradient(const Tensor& x, const Tensor& g, const Axes& axes) {
    Axes order;
    for (size_t d = 0; d < x.shape().size(); ++d)
        if (!is_reduced(axes, d)) order.push_back(static_cast<int64_t>(d));
    Shape flat;
    for (int64_t axis : order) flat.push_back(x.shape()[static_cast<size_t>(axis)]);
    const Shape kept = flat;
    order.insert(order.end(), axes.begin(), axes.end());
    const Tensor moved = transpose(x, order);
    int64_t n = 1;
    for (int64_t axis : axes) n *= x.shape()[static_cast<size_t>(axis)];
    flat.push_back(n);

    std::vector<Tensor> levels{reshape(moved, flat)};
    std::vector<int64_t> lengths;  // before padding
    while (levels.back().shape().back() > 1) {
        Tensor z = levels.back();
        const int64_t length = z.shape().back(), half = (length + 1) / 2;
        lengths.push_back(length);
        if (length % 2) levels.back() = z = concatenate({z, ones(z, 1)}, z.rank() - 1);
        levels.push_back(map("multiply", {head(z, half), tail(z, half)}));
    }
    Shape narrow = kept;
    narrow.push_back(1);
    Tensor gradient = reshape(g, narrow);
    for (size_t level = lengths.size(); level-- > 0;) {
        const Tensor& z = levels[level];
        const int64_t half = z.shape().back() / 2;
        const Tensor slope = conjugated(z);
        gradient = concatenate({map("multiply", {gradient, tail(slope, half)}),
                                map("multiply", {gradient, head(slope, half)})},
                               z.rank() - 1);
        if (gradient.shape().back() != lengths[level]) gradient = head(gradient, lengths[level]);
    }
    if (n == 0) return zeros_like(x);
    Axes inverse(order.size());
    for (size_t d = 0; d < order.size(); ++d)
        inverse[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    return transpose(reshape(gradient, moved.shape()), inverse);
}

std::vector<Tensor> vjp_reduce(const Node& node, const std::vector<Tensor>& gradients,
                               const std::vector<bool>&) {
    const Tensor& x = node.operand(0);
    const Axes& axes = node.attributes().get<Axes>("axes");
    const Combiner combiner = combiner_of(node.attributes());
    if (!ir::is_inexact(node.types()[0].dtype)) return {Tensor()};
    switch (combiner) {
        case Combiner::sum: return {spread(gradients[0], x, axes)};
        case Combiner::product: return {product_gradient(x, gradients[0], axes)};
        case Combiner::maximum:
        case Combiner::minimum: {
            // Equal shares for equal extrema, as torch.amax.
            const Tensor y(Ref<Node>(&node), 0);
            const Tensor hit = astype(map("equal", {x, spread(y, x, axes)}), x.dtype());
            const Tensor share =
                map("divide", {gradients[0], reshape(reduce(Combiner::sum, hit, axes), y.shape())});
            return {map("multiply", {hit, spread(share, x, axes)})};
        }
        case Combiner::any:
        case Combiner::all:
        case Combiner::argmax:
        case Combiner::argmin: break;
    }
    return {Tensor()};
}

void lower_reduce(const Node& node, ir::Lowering& lowering) {
    const Axes& axes = node.attributes().get<Axes>("axes");
    const Combiner combiner = combiner_of(node.attributes());
    const Nest x = lowering.operand(0);
    if (const auto small = small_reduction(x, combiner, axes, node.types()[0].shape))
        return lowering.result(0, *small);
    ir::kernel::Reduce kernel;
    std::vector<size_t> order;
    for (size_t d = 0; d < x.extents.size(); ++d)
        if (!is_reduced(axes, d)) {
            order.push_back(d);
            kernel.kept.push_back(x.extents[d]);
        }
    for (size_t d = 0; d < x.extents.size(); ++d)
        if (is_reduced(axes, d)) {
            order.push_back(d);
            kernel.reduced.push_back(x.extents[d]);
        }
    kernel.inputs = x.inputs;
    for (Access& access : kernel.inputs) {
        std::vector<int64_t> strides;
        for (size_t d : order) strides.push_back(access.strides[d]);
        access.strides = std::move(strides);
    }
    const bool logical = combiner == Combiner::any || combiner == Combiner::all;
    kernel.value = logical ? Expr::cast(x.value, DType::boolean) : x.value;
    kernel.combiner = combiner;
    Access output = lowering.new_output(0);
    output.strides = ir::row_major_strides(kernel.kept);
    kernel.output = output;
    lowering.emit(std::move(kernel));
}

std::vector<Tensor> batch_reduce(const Node& node, const std::vector<Tensor>& x, const Batched&,
                                 int64_t) {
    return {reduce(combiner_of(node.attributes()), x[0],
                   moved_right(node.attributes().get<Axes>("axes")),
                   node.attributes().get<bool>("keepdims"))};
}

std::vector<Tensor> batch_scan(const Node& node, const std::vector<Tensor>& x, const Batched&,
                               int64_t) {
    return {scan(combiner_of(node.attributes()), x[0], node.attributes().get<int64_t>("axis") + 1)};
}

const ir::Operation& reduce_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "reduce",
        .doc = "Axes combined away: sum, product, maximum, minimum, any, all, argmax, argmin.",
        .infer = infer_reduce,
        .vjp = vjp_reduce,
        .batch = batch_reduce,
        .lower = lower_reduce,
        .by_components = reduce_by_components,
        .label = [](const Node& node) { return std::string(name(combiner_of(node.attributes()))); },
        .check = check_reduce,
    });
    return operation;
}

Tensor flip(const Tensor& x, int64_t axis) {
    std::vector<int64_t> starts(x.shape().size(), 0), steps(x.shape().size(), 1);
    starts[static_cast<size_t>(axis)] = x.shape()[static_cast<size_t>(axis)] - 1;
    steps[static_cast<size_t>(axis)] = -1;
    return x.size() == 0 ? x : slice(x, starts, x.shape(), steps);
}

Tensor shifted(const Tensor& x, int64_t axis, int64_t by,
               double fill) {  // towards higher positions
    std::vector<int64_t> low(x.shape().size(), 0), high = low;
    low[static_cast<size_t>(axis)] = by;
    high[static_cast<size_t>(axis)] = -by;
    return pad(x, ir::constant(Array::scalar(x.dtype(), fill)), low, high,
               std::vector<int64_t>(low.size(), 0));
}

// Running product as log2(n) doubling steps z = z * shift(z, d), transposed: no division.
Tensor running_product_gradient(const Tensor& x, const Tensor& g, int64_t axis) {
    const int64_t n = x.shape()[static_cast<size_t>(axis)];
    std::vector<Tensor> levels{x}, others;
    for (int64_t d = 1; d < n; d *= 2) {
        others.push_back(shifted(levels.back(), axis, d, 1));
        levels.push_back(map("multiply", {levels.back(), others.back()}));
    }
    Tensor gradient = g;
    for (size_t level = others.size(); level-- > 0;) {
        const int64_t d = int64_t{1} << level;
        const Tensor through_shift =
            shifted(map("multiply", {gradient, conjugated(levels[level])}), axis, -d, 0);
        const Tensor direct = map("multiply", {gradient, conjugated(others[level])});
        gradient = map("add", {direct, through_shift});
    }
    return gradient;
}

// Running maximum: each position's gradient goes to the first place that held the value it shows.
Tensor running_extremum_gradient(const Node& node, const Tensor& g, int64_t axis) {
    const Tensor& x = node.operand(0);
    const Tensor y(Ref<Node>(&node), 0);
    const int64_t n = x.shape()[static_cast<size_t>(axis)];
    if (n == 0) return g;
    const Tensor place = iota(x.shape(), axis);
    const Tensor first = map("equal", {place, ir::weak_scalar(int64_t{0})});
    const Tensor is_new = map("logical_or", {first, map("not_equal", {y, shifted(y, axis, 1, 0)})});
    const Tensor origin =
        scan(Combiner::maximum, map("where", {is_new, place, ir::weak_scalar(int64_t{0})}), axis);
    std::vector<Tensor> indices;
    Axes axes;
    for (int64_t d = 0; d < x.rank(); ++d) {
        indices.push_back(d == axis ? origin : iota(x.shape(), d));
        axes.push_back(d);
    }
    return scatter(zeros_like(x), indices, axes, g, true);
}

std::vector<Tensor> vjp_scan(const Node& node, const std::vector<Tensor>& gradients,
                             const std::vector<bool>&) {
    const int64_t axis = node.attributes().get<int64_t>("axis");
    if (!ir::is_inexact(node.types()[0].dtype)) return {Tensor()};
    const Combiner combiner = combiner_of(node.attributes());
    if (combiner == Combiner::sum)
        return {flip(scan(Combiner::sum, flip(gradients[0], axis), axis), axis)};
    if (combiner == Combiner::product)
        return {running_product_gradient(node.operand(0), gradients[0], axis)};
    return {running_extremum_gradient(node, gradients[0], axis)};
}

void lower_scan(const Node& node, ir::Lowering& lowering) {
    const size_t axis = static_cast<size_t>(node.attributes().get<int64_t>("axis"));
    const Nest x = lowering.operand(0);
    const auto to_last = [&](std::vector<int64_t> values) {
        std::rotate(values.begin() + static_cast<long>(axis),
                    values.begin() + static_cast<long>(axis) + 1, values.end());
        return values;
    };
    ir::kernel::Scan kernel{
        to_last(x.extents), x.inputs, x.value, combiner_of(node.attributes()), {}};
    for (Access& access : kernel.inputs) access.strides = to_last(access.strides);
    kernel.output = lowering.new_output(0);
    kernel.output.strides = to_last(kernel.output.strides);
    lowering.emit(std::move(kernel));
}

const ir::Operation& scan_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "scan",
        .doc = "Running sum, product, maximum or minimum along one axis.",
        .infer = [](const std::vector<Tensor>& x, const Attributes&) -> std::vector<TensorType> {
            return {{x[0].shape(), x[0].dtype()}};
        },
        .vjp = vjp_scan,
        .batch = batch_scan,
        .lower = lower_scan,
        .by_components = scan_by_components,
        .label =
            [](const Node& node) {
                return "running_" + std::string(name(combiner_of(node.attributes())));
            },
        .check = check_scan,
    });
    return operation;
}

}  // namespace

Tensor reduce(Combiner combiner, const Tensor& x, Axes axes, bool keepdims) {
    std::sort(axes.begin(), axes.end());
    return make_checked(
        reduce_operation(), {x},
        {{"combiner", static_cast<int64_t>(combiner)}, {"axes", axes}, {"keepdims", keepdims}})[0];
}

Tensor scan(Combiner combiner, const Tensor& x, int64_t axis) {
    return make_checked(scan_operation(), {x},
                        {{"combiner", static_cast<int64_t>(combiner)}, {"axis", axis}})[0];
}

void register_reduce() {
    reduce_operation();
    scan_operation();
}

}  // namespace composit::ops
