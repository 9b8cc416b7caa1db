// Identities with derivatives of their own: of zero, or of zero in places.
#include "composit/nn/differentiation.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operand.h"
#include "composit/ops/ops.h"

namespace composit::nn {

using ir::Tensor;

namespace {

const ir::Operation& stop_gradient_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "stop_gradient",
        .doc = "The operand, through which no gradient flows.",
        .infer =
            [](const std::vector<Tensor>& x, const ir::Attributes&) {
                return std::vector<ir::TensorType>{{x[0].shape(), x[0].dtype()}};
            },
        .vjp = [](const ir::Node&, const std::vector<Tensor>&,
                  const std::vector<bool>&) { return std::vector<Tensor>{Tensor()}; },
        .batch = [](const ir::Node&, const std::vector<Tensor>& x, const std::vector<bool>&,
                    int64_t) { return std::vector<Tensor>{stop_gradient(x[0])}; },
        .decompose =
            [](const ir::Node& node) {
                return std::vector<Tensor>{numpy::strong(node.operand(0))};
            },
        .check = [](const std::vector<Tensor>& x,
                    const ir::Attributes&) { ir::check_operand_count("stop_gradient", x, 1); },
    });
    return operation;
}

const ir::Operation& gradient_where_operation() {
    using Tensors = std::vector<Tensor>;
    static const ir::Operation& operation = ir::register_operation({
        .name = "gradient_where",
        .doc = "The second operand, through which gradients flow where the first one holds.",
        .infer =
            [](const Tensors& x, const ir::Attributes&) {
                return std::vector<ir::TensorType>{{x[1].shape(), x[1].dtype()}};
            },
        .vjp =
            [](const ir::Node& node, const Tensors& gradients, const std::vector<bool>&) {
                const Tensor& g = gradients[0];
                const Tensor zero = ir::constant(ir::Array::zeros(g.dtype(), {}));
                return Tensors{Tensor(), ops::map("where", {node.operand(0), g, zero})};
            },
        .batch =
            [](const ir::Node& node, const Tensors& x, const std::vector<bool>& batched,
               int64_t size) {
                Tensors all;
                for (size_t i = 0; i < 2; ++i) {
                    ir::Shape shape = node.operand(static_cast<int>(i)).shape();
                    shape.insert(shape.begin(), size);
                    all.push_back(batched[i] ? x[i] : ops::broadcast_to(x[i], shape));
                }
                return Tensors{gradient_where(all[0], all[1])};
            },
        .decompose = [](const ir::Node& node) { return Tensors{node.operand(1)}; },
        .by_components = [](const ir::Node&, const std::vector<ir::Components>& x)
            -> std::vector<ir::Components> { return {x[1]}; },
        .moves_elements = true,
        .check =
            [](const Tensors& x, const ir::Attributes&) {
                ir::check_operand_count("gradient_where", x, 2);
                user_check(x[0].dtype() == ir::DType::boolean && x[0].shape() == x[1].shape(),
                           "gradient_where: operands are ", x[0].type(), " and ", x[1].type(),
                           ". A condition of the second one's shape is required.");
            },
    });
    return operation;
}

}  // namespace

void register_differentiation() {
    stop_gradient_operation();
    gradient_where_operation();
}

Tensor stop_gradient(const Tensor& x) { return ir::make(stop_gradient_operation(), {x}); }

Tensor with_values(const Tensor& x, const Tensor& values) {
    return ops::with_values(numpy::strong(x), numpy::strong(values));
}

Tensor gradient_where(const Tensor& condition, const Tensor& x) {
    user_check<TypeError>(condition.dtype() == ir::DType::boolean,
                          "gradient_where: the condition is ", condition.type(),
                          ". One of dtype bool is required.");
    const Tensor value = numpy::strong(x);
    const Tensor whole =
        errors_as("gradient_where", [&] { return numpy::broadcast_to(condition, value.shape()); });
    return ir::make(gradient_where_operation(), {whole, value});
}

}  // namespace composit::nn
