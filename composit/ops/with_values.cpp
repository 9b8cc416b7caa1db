// Values with the gradients of others.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/ops/batching.h"
#include "composit/ops/ops.h"

namespace composit::ops {

using Tensors = std::vector<Tensor>;

namespace {

void check_with_values(const Tensors& x, const ir::Attributes&) {
    ir::check_operand_count("with_values", x, 2);
    user_check<TypeError>(x[0].dtype() == x[1].dtype(), "with_values: the values are ", x[1].type(),
                          ". Dtype ", x[0].dtype(), " is required.");
    user_check(x[0].shape() == x[1].shape(), "with_values: the values are ", x[1].type(),
               ". Shape ", x[0].shape(), " is required.");
}

const ir::Operation& with_values_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "with_values",
        .doc = "The second operand, through which the gradients of the first one flow.",
        .infer =
            [](const Tensors& x, const ir::Attributes&) {
                return std::vector<ir::TensorType>{{x[0].shape(), x[0].dtype()}};
            },
        .vjp = [](const ir::Node&, const Tensors& gradients,
                  const std::vector<bool>&) { return Tensors{gradients[0], Tensor()}; },
        .batch =
            [](const ir::Node&, const Tensors& x, const std::vector<bool>& batched, int64_t size) {
                return Tensors{with_values(with_batch(x[0], batched[0], size),
                                           with_batch(x[1], batched[1], size))};
            },
        .decompose = [](const ir::Node& node) { return Tensors{node.operand(1)}; },
        .by_components = [](const ir::Node&, const std::vector<ir::Components>& x)
            -> std::vector<ir::Components> { return {x[1]}; },
        .moves_elements = true,
        .check = check_with_values,
    });
    return operation;
}

}  // namespace

Tensor with_values(const Tensor& x, const Tensor& values) {
    check_with_values({x, values}, {});
    return ir::make(with_values_operation(), {x, values});
}

void register_with_values() { with_values_operation(); }

}  // namespace composit::ops
