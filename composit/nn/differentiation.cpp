// stop_gradient: the identity with a derivative of zero.
#include "composit/nn/differentiation.h"

#include "composit/ir/check.h"
#include "composit/ir/operation.h"
#include "composit/numpy/operand.h"

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

}  // namespace

void register_differentiation() { stop_gradient_operation(); }

Tensor stop_gradient(const Tensor& x) { return ir::make(stop_gradient_operation(), {x}); }

}  // namespace composit::nn
