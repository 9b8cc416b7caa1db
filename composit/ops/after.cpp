// after: values that wait for others, so that a graph says when they are computed.
#include "composit/base/error.h"
#include "composit/ops/components.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

namespace composit::ops {

using ir::Components;

namespace {

size_t value_count(const Node& node) {
    return static_cast<size_t>(node.attributes().get<int64_t>("count"));
}

Tensors first(const Tensors& x, size_t count) {
    return {x.begin(), x.begin() + static_cast<std::ptrdiff_t>(count)};
}

// In components a complex value is two.
std::vector<Components> after_by_components(const Node& node,
                                            const std::vector<Components>& operands) {
    const size_t count = value_count(node);
    Tensors values, waited_for;
    for (size_t i = 0; i < operands.size(); ++i) {
        Tensors& list = i < count ? values : waited_for;
        list.push_back(operands[i].re);
        if (operands[i].im) list.push_back(operands[i].im);
    }
    const Tensors made = after(values, waited_for);
    std::vector<Components> result;
    for (size_t i = 0, next = 0; i < count; ++i) {
        result.push_back({made[next++], {}});
        if (operands[i].im) result.back().im = made[next++];
    }
    return result;
}

const ir::Operation& after_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "after",
        .doc = "The first operands, not before all operands are computed.",
        .infer =
            [](const Tensors& x, const Attributes& attributes) {
                std::vector<TensorType> types;
                const auto count = static_cast<size_t>(attributes.get<int64_t>("count"));
                for (size_t i = 0; i < count; ++i) types.push_back({x[i].shape(), x[i].dtype()});
                return types;
            },
        .vjp =
            [](const Node& node, const Tensors& gradients, const std::vector<bool>&) {
                Tensors back = gradients;
                back.resize(node.operands().size());
                return back;
            },
        .jvp = [](const Node& node,
                  const Tensors& tangents) { return first(tangents, value_count(node)); },
        .batch =
            [](const Node& node, const Tensors& x, const std::vector<bool>& batched, int64_t size) {
                const size_t count = value_count(node);
                Tensors values;
                for (size_t i = 0; i < count; ++i) {
                    Shape shape = x[i].shape();
                    if (!batched[i]) shape.insert(shape.begin(), size);
                    values.push_back(broadcast_to(x[i], shape));
                }
                return after(values, {x.begin() + static_cast<std::ptrdiff_t>(count), x.end()});
            },
        .lower =
            [](const Node& node, ir::Lowering& lowering) {
                const auto count = static_cast<int>(value_count(node));
                for (int i = 0; i < static_cast<int>(node.operands().size()); ++i) {
                    const ir::kernel::Access place = lowering.memory(i);
                    if (i < count) lowering.result(i, nest_of(node.operand(i).shape(), place));
                }
            },
        .by_components = after_by_components,
        .moves_elements = true,
        .check =
            [](const Tensors& x, const Attributes& attributes) {
                const auto* count = attributes.find("count");
                const auto* value = count ? std::get_if<int64_t>(count) : nullptr;
                user_check<TypeError>(value != nullptr, "after: an integer `count` is required.");
                user_check(*value >= 1 && *value <= static_cast<int64_t>(x.size()),
                           "after: count is ", *value, " for ", x.size(),
                           " operands. One of them or more is required.");
            },
    });
    return operation;
}

}  // namespace

void register_after() { after_operation(); }

std::vector<Tensor> after(const Tensors& values, const Tensors& waited_for) {
    if (values.empty()) return {};
    Tensors operands = values;
    operands.insert(operands.end(), waited_for.begin(), waited_for.end());
    return ir::outputs_of(ir::make_node(after_operation(), operands,
                                        {{"count", static_cast<int64_t>(values.size())}}));
}

}  // namespace composit::ops
