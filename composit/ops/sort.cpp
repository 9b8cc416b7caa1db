// sort and argsort: values, or positions, along an axis in the order of the values.
#include "composit/base/error.h"
#include "composit/ops/checks.h"
#include "composit/ops/components.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

#include <algorithm>

namespace composit::ops {
namespace {

using ir::DType;
using ir::Nest;

size_t axis_of(const Node& node) {
    return static_cast<size_t>(node.attributes().get<int64_t>("axis"));
}

// The axis that is sorted moved to the end.
std::vector<int64_t> to_last(std::vector<int64_t> values, size_t axis) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(axis);
    std::rotate(at, at + 1, values.end());
    return values;
}

// The positions of all elements, for gather and scatter: `order` along its axis.
std::vector<Tensor> places_of(const Tensor& order, size_t axis) {
    std::vector<Tensor> places;
    for (size_t d = 0; d < order.shape().size(); ++d)
        places.push_back(d == axis ? order : iota(order.shape(), static_cast<int64_t>(d)));
    return places;
}
Axes all_axes(const Tensor& x) {
    Axes axes;
    for (int64_t d = 0; d < x.rank(); ++d) axes.push_back(d);
    return axes;
}

void lower_sort(const Node& node, ir::Lowering& lowering, bool gives_values) {
    const size_t axis = axis_of(node);
    Nest x = lowering.operand(0);
    x = reindex(x, to_last(x.extents, axis),
                [&](Access& access) { access.strides = to_last(access.strides, axis); });
    ir::kernel::Sort kernel;
    kernel.extents = x.extents;
    kernel.input = lowering.materialise(x);
    kernel.gives_values = gives_values;
    const DType dtype = node.types()[0].dtype;
    const bool is_last = axis + 1 == x.extents.size();
    kernel.output = is_last ? lowering.new_output(0) : lowering.new_temporary(dtype, x.extents);
    kernel.spare = lowering.new_temporary(dtype, x.extents);
    const Access output = kernel.output;
    lowering.emit(std::move(kernel));
    if (is_last) return;
    const Nest sorted = nest_of(x.extents, output);
    lowering.result(0, reindex(sorted, node.types()[0].shape, [&](Access& access) {
                        const auto begin = access.strides.begin();
                        std::rotate(begin + static_cast<std::ptrdiff_t>(axis),
                                    access.strides.end() - 1, access.strides.end());
                    }));
}

const ir::Operation& argsort_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "argsort",
        .doc = "Positions along an axis in the order of the values; equals keep theirs, NaN last.",
        .infer = [](const std::vector<Tensor>& x, const Attributes&) -> std::vector<TensorType> {
            return {{x[0].shape(), DType::int64}};
        },
        .vjp = [](const Node&, const std::vector<Tensor>&,
                  const std::vector<bool>&) -> std::vector<Tensor> { return {Tensor()}; },
        .batch = [](const Node& node, const std::vector<Tensor>& x, const std::vector<bool>&,
                    int64_t) -> std::vector<Tensor> {
            return {argsort(x[0], node.attributes().get<int64_t>("axis") + 1)};
        },
        .lower = [](const Node& node,
                    ir::Lowering& lowering) { lower_sort(node, lowering, false); },
        .by_components = argsort_by_components,
        .check = check_argsort,
    });
    return operation;
}

const ir::Operation& sort_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "sort",
        .doc = "The values along an axis in their order; equals keep theirs, NaN last.",
        .infer = [](const std::vector<Tensor>& x, const Attributes&) -> std::vector<TensorType> {
            return {{x[0].shape(), x[0].dtype()}};
        },
        .vjp = [](const Node& node, const std::vector<Tensor>& g,
                  const std::vector<bool>&) -> std::vector<Tensor> {
            const Tensor& x = node.operand(0);
            if (!ir::is_inexact(x.dtype())) return {Tensor()};
            const size_t axis = axis_of(node);
            const Tensor order = argsort(x, static_cast<int64_t>(axis));
            return {scatter(zeros_like(x), places_of(order, axis), all_axes(x), g[0], true)};
        },
        .batch = [](const Node& node, const std::vector<Tensor>& x, const std::vector<bool>&,
                    int64_t) -> std::vector<Tensor> {
            return {sort(x[0], node.attributes().get<int64_t>("axis") + 1)};
        },
        .lower = [](const Node& node, ir::Lowering& lowering) { lower_sort(node, lowering, true); },
        .by_components = [](const Node& node,
                            const std::vector<ir::Components>& x) -> std::vector<ir::Components> {
            if (!x[0].im) return each_component(node, x);
            const Tensor order = argsort_by_components(node, x)[0].re;
            const std::vector<Tensor> places = places_of(order, axis_of(node));
            return {{gather(x[0].re, places, all_axes(order)),
                     gather(x[0].im, places, all_axes(order))}};
        },
        .moves_elements = true,
        .check = check_argsort,
    });
    return operation;
}

}  // namespace

Tensor sort(const Tensor& x, int64_t axis) {
    return make_checked(sort_operation(), {x}, {{"axis", axis}})[0];
}

Tensor argsort(const Tensor& x, int64_t axis) {
    return make_checked(argsort_operation(), {x}, {{"axis", axis}})[0];
}

void register_sort() {
    argsort_operation();
    sort_operation();
}

}  // namespace composit::ops
