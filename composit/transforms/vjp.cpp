// Reverse mode: gradients of outputs with respect to inputs, as a graph.
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/ops/lift.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <unordered_map>
#include <unordered_set>

namespace composit::transforms {

using ir::Node;

namespace {

// Nodes on a way from an input to an output, in topological order.
std::vector<const Node*> path(const std::vector<Tensor>& outputs,
                              const std::vector<Tensor>& inputs) {
    std::unordered_set<const Node*> reached;
    for (const Tensor& input : inputs) reached.insert(&input.node());
    std::vector<const Node*> result;
    for (const Node* node : ir::topological_order(outputs)) {
        bool depends = reached.contains(node);
        for (const Tensor& operand : node->operands())
            depends = depends || reached.contains(&operand.node());
        if (!depends) continue;
        reached.insert(node);
        result.push_back(node);
    }
    return result;
}

std::string described(const Node& node) {
    std::string where = node.location().empty() ? "" : " at " + node.location();
    std::string name = node.name().empty() ? "" : node.name() + " = ";
    return text(name, ir::label(node), "(…)", where);
}

class Reverse {
  public:
    Reverse(std::vector<const Node*> path) : path_(std::move(path)) {
        for (const Node* node : path_) on_path_.insert(node);
    }

    void add(const Tensor& tensor, const Tensor& gradient) {
        auto& slots = gradients_[&tensor.node()];
        slots.resize(static_cast<size_t>(tensor.node().output_count()));
        Tensor& slot = slots[static_cast<size_t>(tensor.output_index())];
        slot = ops::add_gradients(slot, gradient);
    }

    Tensor gradient(const Tensor& tensor) const {
        const auto found = gradients_.find(&tensor.node());
        if (found == gradients_.end()) return {};
        return found->second[static_cast<size_t>(tensor.output_index())];
    }

    void run() {
        for (size_t i = path_.size(); i-- > 0;) {
            const Node& node = *path_[i];
            const auto found = gradients_.find(&node);
            if (found == gradients_.end() || node.operands().empty()) continue;
            std::vector<bool> wanted;
            bool any = false;
            for (const Tensor& operand : node.operands()) {
                wanted.push_back(on_path_.contains(&operand.node()) &&
                                 ir::is_inexact(operand.dtype()));
                any = any || wanted.back();
            }
            if (!any) continue;
            if (!ir::vjp_of(node))
                fail<TypeError>("vjp: operation '", ir::label(node),
                                "' has no derivative; it is reached through ", described(node),
                                ".");
            const ir::LocationScope scope(node);
            const std::vector<Tensor> gradients = found->second;  // `add` may move the map's slots
            const std::vector<Tensor> back = ir::vjp_of(node)(node, gradients, wanted);
            for (size_t k = 0; k < back.size(); ++k)
                if (wanted[k] && back[k]) add(node.operands()[k], back[k]);
        }
    }

  private:
    std::vector<const Node*> path_;
    std::unordered_set<const Node*> on_path_;
    std::unordered_map<const Node*, std::vector<Tensor>> gradients_;
};

bool has_calls(const std::vector<Tensor>& outputs) {
    for (const Node* node : ir::topological_order(outputs))
        if (!node->operation().lower) return true;
    return false;
}

}  // namespace

std::vector<Tensor> vjp(const std::vector<Tensor>& outputs, const std::vector<Tensor>& cotangents,
                        const std::vector<Tensor>& inputs) {
    user_check<TypeError>(outputs.size() == cotangents.size(), "vjp: ", outputs.size(),
                          " outputs and ", cotangents.size(),
                          " cotangents given. One cotangent per output is required.");
    for (size_t i = 0; i < outputs.size(); ++i)
        user_check(outputs[i].shape() == cotangents[i].shape() &&
                       outputs[i].dtype() == cotangents[i].dtype(),
                   "vjp: cotangent ", i, " has type ", cotangents[i].type(),
                   ". The type of its output, ", outputs[i].type(), ", is required.");
    std::vector<Tensor> results = outputs, sources = inputs;
    if (has_calls(outputs)) {
        results.insert(results.end(), inputs.begin(), inputs.end());
        results = open_for_derivatives(results);
        sources.assign(results.begin() + static_cast<long>(outputs.size()), results.end());
        results.resize(outputs.size());
    }
    Reverse reverse(path(results, sources));
    for (size_t i = 0; i < results.size(); ++i)
        if (ir::is_inexact(results[i].dtype())) reverse.add(results[i], cotangents[i]);
    reverse.run();
    std::vector<Tensor> gradients;
    for (size_t i = 0; i < sources.size(); ++i) {
        const Tensor gradient = reverse.gradient(sources[i]);
        gradients.push_back(gradient ? gradient : ops::zeros_like(inputs[i]));
    }
    return gradients;
}

}  // namespace composit::transforms
