// Forward mode. The vjp is linear in its cotangents; its transpose is the jvp, so no rule is
// written twice. Operations that bring a rule of their own, as the transpose costs more, are met
// one after the other, from inputs to outputs.
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/ops/lift.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <algorithm>
#include <unordered_map>

namespace composit::transforms {
namespace {

using ir::Node;
using Tensors = std::vector<Tensor>;

// Of smooth outputs.
Tensors transposed(const Tensors& outputs, const Tensors& inputs, const Tensors& tangents) {
    Tensors cotangents;
    for (const Tensor& output : outputs)
        cotangents.push_back(ir::input("cotangent", output.dtype(), output.shape()));
    return vjp(vjp(outputs, cotangents, inputs), tangents, cotangents);
}

// Tangents of a node's outputs, empty where there is none, by the transpose of its vjp. Of the node
// over other leaves, as one operand may depend on another, whose tangent says that already.
Tensors tangents_of(const Node& node, const Tensors& tangents) {
    Tensors leaves, operands, inputs, given;
    for (size_t k = 0; k < tangents.size(); ++k) {
        const Tensor& operand = node.operands()[k];
        const auto known = std::find(operands.begin(), operands.end(), operand);
        if (!tangents[k] || known != operands.end()) continue;
        operands.push_back(operand);
        inputs.push_back(ir::input("operand", operand.dtype(), operand.shape()));
        given.push_back(tangents[k]);
    }
    for (const Tensor& operand : node.operands()) {
        const auto known = std::find(operands.begin(), operands.end(), operand);
        leaves.push_back(known == operands.end()
                             ? operand
                             : inputs[static_cast<size_t>(known - operands.begin())]);
    }
    Tensors outputs;
    for (const Tensor& output : ir::outputs_of(ir::with_operands(node, leaves)))
        if (ir::is_inexact(output.dtype())) outputs.push_back(output);
    const Tensors made = ir::substitute(transposed(outputs, inputs, given), inputs, operands);
    Tensors result(static_cast<size_t>(node.output_count()));
    for (size_t i = 0; i < made.size(); ++i)
        result[static_cast<size_t>(outputs[i].output_index())] = made[i];
    return result;
}

// The tangents of tensors that depend on inputs.
class Forward {
  public:
    Forward(const Tensors& inputs, const Tensors& tangents) {
        for (size_t i = 0; i < inputs.size(); ++i) {
            Tensors& known = known_[&inputs[i].node()];
            known.resize(static_cast<size_t>(inputs[i].node().output_count()));
            known[static_cast<size_t>(inputs[i].output_index())] = tangents[i];
        }
    }

    Tensor find(const Tensor& x) const {
        const auto found = known_.find(&x.node());
        return found == known_.end() ? Tensor()
                                     : found->second[static_cast<size_t>(x.output_index())];
    }

    void visit(const Node& node) {
        Tensors tangents;
        bool any = false;
        for (const Tensor& operand : node.operands()) {
            tangents.push_back(find(operand));
            any = any || tangents.back();
        }
        if (!any) return;
        const ir::LocationScope scope(node);
        const ir::JvpRule& rule = ir::jvp_of(node);
        Tensors made = rule ? rule(node, tangents) : tangents_of(node, tangents);
        Tensors& known = known_[&node];
        known.resize(made.size());
        for (size_t i = 0; i < made.size(); ++i)  // an input keeps what it was given
            if (!known[i]) known[i] = std::move(made[i]);
    }

  private:
    std::unordered_map<const Node*, Tensors> known_;
};

bool has_rules(const Tensors& outputs) {
    for (const Node* node : ir::topological_order(outputs))
        if (ir::jvp_of(*node)) return true;
    return false;
}

Tensors forward(const Tensors& outputs, const Tensors& inputs, const Tensors& tangents) {
    Tensors all = outputs;
    all.insert(all.end(), inputs.begin(), inputs.end());
    all = open_for_derivatives(all);
    const auto middle = all.begin() + static_cast<long>(outputs.size());
    const Tensors results(all.begin(), middle), sources(middle, all.end());
    Forward pass(sources, tangents);
    for (const Node* node : ir::topological_order(results)) pass.visit(*node);
    Tensors made;
    for (const Tensor& result : results) {
        const Tensor tangent = pass.find(result);
        made.push_back(tangent ? tangent : ops::zeros_like(result));
    }
    return made;
}

}  // namespace

std::vector<Tensor> jvp(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                        const std::vector<Tensor>& tangents) {
    user_check<TypeError>(inputs.size() == tangents.size(), "jvp: ", inputs.size(), " inputs and ",
                          tangents.size(), " tangents given. One tangent per input is required.");
    for (size_t i = 0; i < inputs.size(); ++i)
        user_check(
            inputs[i].shape() == tangents[i].shape() && inputs[i].dtype() == tangents[i].dtype(),
            "jvp: tangent ", i, " has type ", tangents[i].type(), ". The type of its input, ",
            inputs[i].type(), ", is required.");
    Tensors smooth;
    for (const Tensor& output : outputs)
        if (ir::is_inexact(output.dtype())) smooth.push_back(output);
    const Tensors made = has_rules(smooth) ? forward(smooth, inputs, tangents)
                                           : transposed(smooth, inputs, tangents);
    Tensors result;
    size_t next = 0;
    for (const Tensor& output : outputs)
        result.push_back(ir::is_inexact(output.dtype()) ? made[next++] : ops::zeros_like(output));
    return result;
}

}  // namespace composit::transforms
