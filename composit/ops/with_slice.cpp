// with_slice: an array in which a slice is replaced. Programs that write in place make these by the
// thousand, so each is one node, which becomes a selection of two tensors when a plan is made.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/batching.h"
#include "composit/ops/lately.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

#include <utility>

namespace composit::ops {

namespace {

const Axes& starts_of(const Node& node) { return node.attributes().get<Axes>("starts"); }
const Axes& steps_of(const Node& node) { return node.attributes().get<Axes>("steps"); }

void check_with_slice(const Tensors& x, const Attributes& attributes) {
    ir::check_operand_count("with_slice", x, 2);
    const Axes& starts = ir::checked_attribute<Axes>("with_slice", attributes, "starts");
    const Axes& steps = ir::checked_attribute<Axes>("with_slice", attributes, "steps");
    user_check<TypeError>(!x[1].type().weak && x[1].dtype() == x[0].dtype(),
                          "with_slice: the value has type ", x[1].type(), ". Dtype ", x[0].dtype(),
                          " is required.");
    const Shape &shape = x[0].shape(), &lengths = x[1].shape();
    bool fits = starts.size() == shape.size() && steps.size() == shape.size() &&
                lengths.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) {
        const int64_t n = lengths[d];
        fits = n <= shape[d] && steps[d] != 0;
        if (!fits || n == 0) continue;
        // Steps within the shape, so that the last position does not overflow.
        fits = starts[d] >= 0 && starts[d] < shape[d] &&
               (n == 1 || (steps[d] > -shape[d] && steps[d] < shape[d]));
        if (!fits) continue;
        const int64_t last = starts[d] + (n - 1) * steps[d];
        fits = n == 1 || (last >= 0 && last < shape[d]);
    }
    user_check<IndexError>(fits, "with_slice: starts ", starts, ", steps ", steps,
                           " and a value of shape ", lengths, " for shape ", shape,
                           ". Positions within the shape are required.");
}

Tensor number(DType dtype, double value, std::string_view name) {
    return ir::constant(Array::scalar(dtype, value), name);
}

// Every element is taken from one of two tensors of x's shape, by a mask.
Tensor selected(const Node& node) {
    const Tensor& x = node.operand(0);
    Tensor part = node.operand(1);
    const Axes lengths = part.shape(), &starts = starts_of(node), &steps = steps_of(node);
    Axes low, high, interior, turned_starts, turned_steps;
    bool is_turned = false;
    for (size_t d = 0; d < lengths.size(); ++d) {
        const int64_t n = lengths[d], step = n == 1 ? 1 : steps[d];
        const int64_t first = step < 0 ? starts[d] + (n - 1) * step : starts[d];
        const int64_t stride = step < 0 ? -step : step;
        is_turned = is_turned || step < 0;
        turned_starts.push_back(step < 0 ? n - 1 : 0);
        turned_steps.push_back(step < 0 ? -1 : 1);
        low.push_back(first);
        interior.push_back(stride - 1);
        high.push_back(x.shape()[d] - first - ((n - 1) * stride + 1));
    }
    if (is_turned) part = slice(part, turned_starts, lengths, turned_steps);
    const Tensor inside = full(lengths, number(DType::boolean, 1, "scalar_True"));
    const Tensor mask = pad(inside, number(DType::boolean, 0, "scalar_False"), low, high, interior);
    const Tensor around = pad(part, number(x.dtype(), 0, "scalar_0"), low, high, interior);
    return map("where", {mask, around, x});
}

const ir::Operation& with_slice_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "with_slice",
        .doc = "The first operand with a slice replaced by the second operand.",
        .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
            return {{x[0].shape(), x[0].dtype()}};
        },
        .vjp = [](const Node& node, const Tensors& g, const Wanted& wanted) -> Tensors {
            const Tensor& part = node.operand(1);
            const Axes &starts = starts_of(node), &steps = steps_of(node);
            return {wanted[0] ? with_slice(g[0], starts, steps, zeros_like(part)) : Tensor(),
                    wanted[1] ? slice(g[0], starts, part.shape(), steps) : Tensor()};
        },
        .batch = [](const Node& node, const Tensors& operands, const Batched& batched,
                    int64_t n) -> Tensors {
            return {with_slice(with_batch(operands[0], batched[0], n), prefixed(0, starts_of(node)),
                               prefixed(1, steps_of(node)),
                               with_batch(operands[1], batched[1], n))};
        },
        .decompose = [](const Node& node) -> Tensors {
            if (node.operand(1).size() == 0) return {node.operand(0)};
            return {selected(node)};
        },
        .moves_elements = true,
        .check = check_with_slice,
    });
    return operation;
}

}  // namespace

Tensor with_slice(const Tensor& x, std::vector<int64_t> starts, std::vector<int64_t> steps,
                  const Tensor& value) {
    thread_local Lately<2> lately;
    const auto& record = lately.find(
        {&starts, &steps}, x.dtype(),
        [&] { return Attributes{{"starts", starts}, {"steps", steps}}; },
        [&] { return std::vector<TensorType>(); });
    check_with_slice({x, value}, record.attributes->values);
    return {ir::make_typed_node(with_slice_operation(), {x, value}, record.attributes,
                                strong_types_of(x)),
            0};
}

void register_with_slice() { with_slice_operation(); }

}  // namespace composit::ops
