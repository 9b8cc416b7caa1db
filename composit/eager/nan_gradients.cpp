// Looks at the gradients of all nodes between outputs and inputs.
#include "composit/eager/nan_gradients.h"

#include "composit/eager/tape_gradients.h"
#include "composit/execute/execute.h"
#include "composit/ir/operation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/reductions.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

namespace composit::eager {
namespace {

using End = std::pair<const ir::Node*, int>;

End end_of(const Tensor& tensor) { return {&tensor.node(), tensor.output_index()}; }

// Nodes through which gradients come to the inputs, operands before users.
std::vector<const ir::Node*> nodes_between(const std::vector<Tensor>& outputs,
                                           const std::vector<Tensor>& inputs) {
    std::unordered_set<const ir::Node*> wanted;
    for (const Tensor& input : inputs) wanted.insert(&input.node());
    std::vector<const ir::Node*> between;
    for (const ir::Node* node : ir::topological_order(outputs)) {
        const auto leads = [&](const Tensor& operand) { return wanted.contains(&operand.node()); };
        if (!wanted.contains(node) &&
            std::none_of(node->operands().begin(), node->operands().end(), leads))
            continue;
        wanted.insert(node);
        between.push_back(node);
    }
    return between;
}

std::string name_of_operation(const ir::Node& node) {
    if (const ir::Attribute* const row = node.attributes().find("row"))
        if (const auto* const known = std::get_if<ir::scalar::RowRef>(row)) return (*known)->name;
    return node.name().empty() ? ir::label(node) : node.name();
}

}  // namespace

bool has_nan(const Tensor& values) {
    const Tensor found = numpy::any(numpy::apply("not_equal", {values, values}));
    return *execute::evaluate({found}).at(0).data_as<bool>();
}

std::optional<NanGradient> first_nan_gradient(const std::vector<Tensor>& outputs,
                                              const std::vector<Tensor>& flows,
                                              const std::vector<Tensor>& inputs) {
    const std::vector<const ir::Node*> between = nodes_between(outputs, inputs);
    std::vector<Tensor> wanted;
    for (const ir::Node* node : between)
        for (const Tensor& output : ir::outputs_of(Ref<ir::Node>(node)))
            if (ir::is_inexact(output.dtype())) wanted.push_back(output);
    const std::vector<Tensor> gradients = chain_rule(outputs, flows, wanted);
    std::map<End, Tensor> arriving;
    for (size_t i = 0; i < wanted.size(); ++i) arriving.emplace(end_of(wanted[i]), gradients[i]);
    for (const Tensor& output : outputs) arriving.erase(end_of(output));
    for (auto node = between.rbegin(); node != between.rend(); ++node)
        for (size_t i = 0; i < (*node)->operands().size(); ++i) {
            const auto found = arriving.find(end_of((*node)->operands()[i]));
            if (found != arriving.end() && has_nan(found->second))
                return NanGradient{name_of_operation(**node), i, (*node)->location()};
        }
    return {};
}

}  // namespace composit::eager
