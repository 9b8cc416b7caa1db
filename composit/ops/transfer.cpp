// transfer: the same values on another device.
#include "composit/base/error.h"
#include "composit/ir/check.h"
#include "composit/ops/ops.h"
#include "composit/ops/rules.h"

namespace composit::ops {

namespace {

const std::string& device_of(const Node& node) {
    return node.attributes().get<std::string>("device");
}

const ir::Operation& transfer_operation() {
    static const ir::Operation& operation = ir::register_operation({
        .name = "transfer",
        .doc = "The same values on another device.",
        .infer = [](const Tensors& x, const Attributes&) -> std::vector<TensorType> {
            return {{x[0].shape(), x[0].dtype()}};
        },
        .vjp = [](const Node& node, const Tensors& gradients, const std::vector<bool>&) -> Tensors {
            const ir::DeviceNumber home = node.operand(0).node().device();
            if (home == ir::anywhere || !gradients[0]) return {gradients[0]};
            return {transfer(gradients[0], ir::device_name(home))};
        },
        .jvp = [](const Node& node, const Tensors& tangents) -> Tensors {
            return {tangents[0] ? transfer(tangents[0], device_of(node)) : Tensor()};
        },
        .batch = [](const Node& node, const Tensors& x, const std::vector<bool>&,
                    int64_t) -> Tensors { return {transfer(x[0], device_of(node))}; },
        .lower = [](const Node&,
                    ir::Lowering& lowering) { lowering.result(0, lowering.operand(0)); },
        .moves_elements = true,
        .check =
            [](const Tensors& operands, const Attributes& attributes) {
                ir::check_operand_count("transfer", operands, 1);
                const auto& device =
                    ir::checked_attribute<std::string>("transfer", attributes, "device");
                user_check(!device.empty(), "transfer: the device is empty. A name is required.");
            },
        .device = [](const Node& node) { return ir::device_number(device_of(node)); },
    });
    return operation;
}

}  // namespace

void register_transfer() { transfer_operation(); }

bool is_transfer(const Node& node) { return &node.operation() == &transfer_operation(); }

Tensor transfer(const Tensor& x, const std::string& device) {
    user_check(!device.empty(), "transfer: the device is empty. A name is required.");
    if (x.node().device() == ir::device_number(device) && !x.type().weak) return x;
    return ir::make(transfer_operation(), {x}, {{"device", device}});
}

}  // namespace composit::ops
