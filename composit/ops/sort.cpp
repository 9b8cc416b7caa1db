// argsort: positions along an axis in the order of the values.
#include "composit/base/error.h"
#include "composit/ops/checks.h"
#include "composit/ops/components.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::ops {
namespace {

using ir::Attributes;
using ir::DType;
using ir::Nest;
using ir::Node;
using ir::TensorType;

size_t axis_of(const Node& node) {
    return static_cast<size_t>(node.attributes().get<int64_t>("axis"));
}

// The axis that is sorted moved to the end.
std::vector<int64_t> to_last(std::vector<int64_t> values, size_t axis) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(axis);
    std::rotate(at, at + 1, values.end());
    return values;
}

void lower_argsort(const Node& node, ir::Lowering& lowering) {
    const size_t axis = axis_of(node);
    Nest x = lowering.operand(0);
    x = reindex(x, to_last(x.extents, axis),
                [&](Access& access) { access.strides = to_last(access.strides, axis); });
    ir::kernel::Sort kernel;
    kernel.extents = x.extents;
    kernel.input = lowering.materialise(x);
    const bool is_last = axis + 1 == x.extents.size();
    kernel.output =
        is_last ? lowering.new_output(0) : lowering.new_temporary(DType::int64, x.extents);
    kernel.spare = lowering.new_temporary(DType::int64, x.extents);
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
        .lower = lower_argsort,
        .by_components = argsort_by_components,
        .check = check_argsort,
    });
    return operation;
}

}  // namespace

Tensor argsort(const Tensor& x, int64_t axis) {
    return make_checked(argsort_operation(), {x}, {{"axis", axis}})[0];
}

void register_sort() { argsort_operation(); }

}  // namespace composit::ops
