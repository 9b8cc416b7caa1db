// One element: read, and replaced. Programs that walk through an array make these by the thousand,
// so each is one node, which becomes a slice or a scatter when a plan is made.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/lately.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

#include <utility>

namespace composit::ops {

namespace {

const Axes& position_of(const Attributes& attributes) { return attributes.get<Axes>("position"); }
const Axes& position_of(const Node& node) { return position_of(node.attributes()); }

void check_position(std::string_view operation, const Tensor& x, const Attributes& attributes) {
    const Axes& position = ir::checked_attribute<Axes>(operation, attributes, "position");
    bool fits = position.size() == x.shape().size();
    for (size_t d = 0; fits && d < position.size(); ++d)
        fits = position[d] >= 0 && position[d] < x.shape()[d];
    user_check<IndexError>(fits, operation, ": position ", position, " of shape ", x.shape(),
                           ". An index of each axis, from 0 on, is required.");
}

void check_element(const Tensors& x, const Attributes& attributes) {
    ir::check_operand_count("element", x, 1);
    check_position("element", x[0], attributes);
}

void check_with_element(const Tensors& x, const Attributes& attributes) {
    ir::check_operand_count("with_element", x, 2);
    check_position("with_element", x[0], attributes);
    const TensorType required{{}, x[0].dtype()};
    user_check<TypeError>(x[1].type() == required, "with_element: the value has type ", x[1].type(),
                          ". ", required, " is required.");
}

Tensor part_at(const Tensor& x, const Axes& position) {
    const Axes ones(position.size(), 1);
    return reshape(slice(x, position, ones, ones), {});
}

Tensor index_of(int64_t value) {
    return ir::constant(Array::of<int64_t>(DType::int64, {}, {value}));
}

// Of x with a leading axis where batched: elements of each.
Tensors batch_element(const Node& node, const Tensors& x, const Batched&, int64_t n) {
    const Axes& position = position_of(node);
    const Axes ones(position.size(), 1);
    return {reshape(slice(x[0], prefixed(0, position), prefixed(n, ones), prefixed(1, ones)), {n})};
}

Tensors batch_with_element(const Node& node, const Tensors& operands, const Batched& batched,
                           int64_t n) {
    const Tensor x = with_batch(operands[0], batched[0], n);
    const Tensor value = with_batch(operands[1], batched[1], n);
    if (position_of(node).empty()) return {value};
    Tensors indices = {iota({n}, 0)};
    Axes axes = {0};
    for (int64_t index : position_of(node)) {
        axes.push_back(static_cast<int64_t>(axes.size()));
        indices.push_back(index_of(index));
    }
    return {scatter(x, indices, axes, value, false)};
}

const ir::Operation& element_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "element",
        .doc = "One element, without dimensions.",
        .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
            return {{{}, x[0].dtype()}};
        },
        .vjp = [](const Node& node, const Tensors& g, const Wanted&) -> Tensors {
            return {with_element(zeros_like(node.operand(0)), position_of(node), g[0])};
        },
        .batch = batch_element,
        .decompose = [](const Node& node) -> Tensors {
            return {part_at(node.operand(0), position_of(node))};
        },
        .moves_elements = true,
        .check = check_element,
    });
    return operation;
}

const ir::Operation& with_element_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "with_element",
        .doc = "The first operand with one element replaced by the second operand.",
        .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
            return {{x[0].shape(), x[0].dtype()}};
        },
        .vjp = [](const Node& node, const Tensors& g, const Wanted& wanted) -> Tensors {
            const Axes& position = position_of(node);
            const auto zero = [&] { return zeros_like(node.operand(1)); };
            return {wanted[0] ? with_element(g[0], position, zero()) : Tensor(),
                    wanted[1] ? element(g[0], position) : Tensor()};
        },
        .batch = batch_with_element,
        .decompose = [](const Node& node) -> Tensors {
            if (position_of(node).empty()) return {node.operand(1)};
            Tensors indices;
            Axes axes;
            for (int64_t index : position_of(node)) {
                axes.push_back(static_cast<int64_t>(axes.size()));
                indices.push_back(index_of(index));
            }
            return {scatter(node.operand(0), indices, axes, node.operand(1), false)};
        },
        .moves_elements = true,
        .check = check_with_element,
    });
    return operation;
}

}  // namespace

Tensor element(const Tensor& x, std::vector<int64_t> position) {
    thread_local Lately<1> lately;
    const auto& record = lately.find(
        {&position}, x.dtype(), [&] { return Attributes{{"position", position}}; },
        [&] { return std::vector<TensorType>{{{}, x.dtype()}}; });
    check_position("element", x, record.attributes->values);
    return {ir::make_typed_node(element_operation(), {x}, record.attributes, record.types), 0};
}

Tensor with_element(const Tensor& x, std::vector<int64_t> position, const Tensor& value) {
    thread_local Lately<1> lately;
    const auto& record = lately.find(
        {&position}, x.dtype(), [&] { return Attributes{{"position", position}}; },
        [&] { return std::vector<TensorType>(); });
    check_with_element({x, value}, record.attributes->values);
    return {ir::make_typed_node(with_element_operation(), {x, value}, record.attributes,
                                strong_types_of(x)),
            0};
}

void register_element() {
    element_operation();
    with_element_operation();
}

bool is_element(const Node& node) { return &node.operation() == &element_operation(); }
const std::vector<int64_t>& element_position(const Node& node) { return position_of(node); }

}  // namespace composit::ops
