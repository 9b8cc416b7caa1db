// contract: every batched tensordot.
#include "composit/base/error.h"
#include "composit/ops/batching.h"
#include "composit/ops/checks.h"
#include "composit/ops/components.h"
#include "composit/ops/nest.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

#include <algorithm>

namespace composit::ops {

using ir::kernel::concatenate;

Axes free_axes(const Tensor& x, const Axes& batch, const Axes& contracted) {
    Axes result;
    for (int64_t d = 0; d < x.rank(); ++d)
        if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
            std::find(contracted.begin(), contracted.end(), d) == contracted.end())
            result.push_back(d);
    return result;
}

Contraction contraction_of(const Attributes& attributes) {
    return {attributes.get<Axes>("batch_a"), attributes.get<Axes>("batch_b"),
            attributes.get<Axes>("contracted_a"), attributes.get<Axes>("contracted_b")};
}

namespace {

int64_t length(const Tensor& x, int64_t axis) { return x.shape()[static_cast<size_t>(axis)]; }

std::vector<TensorType> infer_contract(const std::vector<Tensor>& operands,
                                       const Attributes& attributes) {
    const Tensor &a = operands[0], &b = operands[1];
    const Contraction c = contraction_of(attributes);
    user_check<TypeError>(a.dtype() == b.dtype(), "contract: dtypes differ: ", a.dtype(), " and ",
                          b.dtype(), ". Convert one of them before.");
    const auto check = [&](const Axes& x, const Axes& y, std::string_view what) {
        for (size_t i = 0; i < x.size(); ++i)
            user_check(length(a, x[i]) == length(b, y[i]), "contract: ", what,
                       " dimensions differ: a has shape ", a.shape(), ", b has shape ", b.shape(),
                       ". a.shape[", x[i], "] must equal b.shape[", y[i], "].");
    };
    check(c.batch_a, c.batch_b, "batch");
    check(c.contracted_a, c.contracted_b, "contracted");
    Shape shape;
    for (int64_t axis : c.batch_a) shape.push_back(length(a, axis));
    for (int64_t axis : free_axes(a, c.batch_a, c.contracted_a)) shape.push_back(length(a, axis));
    for (int64_t axis : free_axes(b, c.batch_b, c.contracted_b)) shape.push_back(length(b, axis));
    return {{shape, a.dtype()}};
}

Axes range(int64_t start, size_t count) {
    Axes axes;
    for (size_t i = 0; i < count; ++i) axes.push_back(start + static_cast<int64_t>(i));
    return axes;
}

Tensor permuted_to(const Tensor& x,
                   const Axes& places) {  // x's dimension d becomes dimension places[d]
    Axes permutation(places.size());
    for (size_t d = 0; d < places.size(); ++d)
        permutation[static_cast<size_t>(places[d])] = static_cast<int64_t>(d);
    return transpose(x, permutation);
}

std::vector<Tensor> vjp_contract(const Node& node, const std::vector<Tensor>& gradients,
                                 const std::vector<bool>& wanted) {
    const Tensor &a = node.operand(0), &b = node.operand(1), &g = gradients[0];
    const Contraction c = contraction_of(node.attributes());
    const Axes free_a = free_axes(a, c.batch_a, c.contracted_a),
               free_b = free_axes(b, c.batch_b, c.contracted_b);
    const auto batch = static_cast<int64_t>(c.batch_a.size()),
               rows = static_cast<int64_t>(free_a.size());
    std::vector<Tensor> result(2);
    if (!ir::is_inexact(a.dtype())) return result;
    if (wanted[0]) {
        // Dimensions of the product: batch, free of a (from g), contracted (from b, in b's order).
        const Tensor product = contract(
            g, conjugated(b),
            {range(0, c.batch_a.size()), c.batch_b, range(batch + rows, free_b.size()), free_b});
        Axes places = concatenate({c.batch_a, free_a});
        for (int64_t axis : free_axes(b, c.batch_b, free_b))
            for (size_t i = 0; i < c.contracted_b.size(); ++i)
                if (c.contracted_b[i] == axis) places.push_back(c.contracted_a[i]);
        result[0] = permuted_to(product, places);
    }
    if (wanted[1]) {
        // Dimensions: batch, contracted (from a, in a's order), free of b (from g).
        const Tensor product =
            contract(conjugated(a), g,
                     {c.batch_a, range(0, c.batch_a.size()), free_a, range(batch, free_a.size())});
        Axes places = c.batch_b;
        for (int64_t axis : free_axes(a, c.batch_a, free_a))
            for (size_t i = 0; i < c.contracted_a.size(); ++i)
                if (c.contracted_a[i] == axis) places.push_back(c.contracted_b[i]);
        result[1] = permuted_to(product, concatenate({places, free_b}));
    }
    return result;
}

void lower_contract(const Node& node, ir::Lowering& lowering) {
    const Tensor &a = node.operand(0), &b = node.operand(1);
    const Contraction c = contraction_of(node.attributes());
    const Axes free_a = free_axes(a, c.batch_a, c.contracted_a),
               free_b = free_axes(b, c.batch_b, c.contracted_b);
    const auto extents = [](const Tensor& x, const Axes& axes) {
        ir::kernel::Extents result;
        for (int64_t axis : axes) result.push_back(length(x, axis));
        return result;
    };
    const auto access = [](Access memory, const Axes& order) {
        std::vector<int64_t> strides;
        for (int64_t axis : order) strides.push_back(memory.strides[static_cast<size_t>(axis)]);
        memory.strides = std::move(strides);
        return memory;
    };
    ir::kernel::Contract kernel{
        extents(a, c.batch_a),
        extents(a, free_a),
        extents(b, free_b),
        extents(a, c.contracted_a),
        access(lowering.memory(0), concatenate({c.batch_a, free_a, c.contracted_a})),
        access(lowering.memory(1), concatenate({c.batch_b, c.contracted_b, free_b})),
        {}};
    kernel.output = lowering.new_output(0);
    lowering.emit(std::move(kernel));
}

// The new axis is a batch axis when both have it, else a free axis, moved to the front afterwards.
std::vector<Tensor> batch_contract(const Node& node, const std::vector<Tensor>& operands,
                                   const Batched& batched, int64_t) {
    Contraction c = contraction_of(node.attributes());
    const auto rows = free_axes(node.operand(0), c.batch_a, c.contracted_a).size();
    const auto batch = static_cast<int64_t>(c.batch_a.size());
    if (batched[0]) {
        c.batch_a = moved_right(c.batch_a);
        c.contracted_a = moved_right(c.contracted_a);
    }
    if (batched[1]) {
        c.batch_b = moved_right(c.batch_b);
        c.contracted_b = moved_right(c.contracted_b);
    }
    if (batched[0] && batched[1]) {
        c.batch_a = prefixed(0, c.batch_a);
        c.batch_b = prefixed(0, c.batch_b);
        return {contract(operands[0], operands[1], c)};
    }
    const int64_t place = batched[0] ? batch : batch + static_cast<int64_t>(rows);
    return {axis_to_front(contract(operands[0], operands[1], c), place)};
}

const ir::Operation& contract_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "contract",
        .doc = "Batched tensor contraction; k is summed by the order of semantics.md 3.",
        .infer = infer_contract,
        .vjp = vjp_contract,
        .batch = batch_contract,
        .lower = lower_contract,
        .by_components = product_by_components,
        .check = check_contract,
    });
    return operation;
}

}  // namespace

Tensor contract(const Tensor& a, const Tensor& b, const Contraction& c) {
    return make_checked(contract_operation(), {a, b},
                        {{"batch_a", c.batch_a},
                         {"batch_b", c.batch_b},
                         {"contracted_a", c.contracted_a},
                         {"contracted_b", c.contracted_b}})[0];
}

void register_contract() { contract_operation(); }

}  // namespace composit::ops
