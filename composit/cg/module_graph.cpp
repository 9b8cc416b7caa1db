// What a call recorded: values, derivatives, and the call as nodes of composit's graph, for which
// the operators are applied once more.
#include "composit/base/error.h"
#include "composit/cg/jacobians.h"
#include "composit/cg/module.h"
#include "composit/cg/node_state.h"
#include "composit/execute/execute.h"
#include "composit/functional/functional.h"
#include "composit/ir/body.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

namespace composit::cg {
namespace {

using Known = std::unordered_map<const NodeState*, Tensor>;

const NodeState* key(const Node& node) { return &node.state(); }

Nodes ordered(const Node& root) {
    Nodes found{root}, stack{root};
    std::unordered_set<const NodeState*> known{key(root)};
    while (!stack.empty()) {
        const Node node = stack.back();
        stack.pop_back();
        for (const Node& child : node.children())
            if (known.insert(key(child)).second) {
                found.push_back(child);
                stack.push_back(child);
            }
    }
    std::ranges::sort(found, {}, [](const Node& node) { return node.state().number; });
    return found;
}

bool is_leaf(const Node& node) { return static_cast<bool>(node.input()); }

Tensor applied(const Node& node, const Known& tensors) {
    Tensors arrays;
    for (const Node& child : node.children()) arrays.push_back(tensors.at(key(child)));
    return node.state().apply(operands_of(node.children(), arrays));
}

// The call around `frame` that is at this depth.
const Frame* at_depth(const FrameRef& frame, size_t depth) {
    const Frame* result = frame.get();
    while (result && result->depth > depth) result = result->outer.get();
    return result;
}

// The nodes of a call in order, once more, each call of a module as a call node.
class Replay {
  public:
    Replay(const Nodes& nodes, const Node& root) {
        for (const Node& node : nodes)
            for (const Node& child : node.children()) last_use_[key(child)] = node.state().number;
        last_use_[key(root)] = std::numeric_limits<int64_t>::max();
    }

    // Those that were made in calls at `depth`, or deeper.
    void items(const Nodes& nodes, size_t depth, Known& tensors) const {
        for (size_t i = 0; i < nodes.size();) {
            const FrameRef& frame = nodes[i].state().frame;
            if (!frame || frame->depth < depth) {
                tensors.emplace(key(nodes[i]), applied(nodes[i], tensors));
                ++i;
                continue;
            }
            const Frame* inner = at_depth(frame, depth);
            size_t end = i + 1;
            while (end < nodes.size() && at_depth(nodes[end].state().frame, depth) == inner) ++end;
            const Nodes members(nodes.begin() + static_cast<long>(i),
                                nodes.begin() + static_cast<long>(end));
            call(*inner, members, tensors);
            i = end;
        }
    }

  private:
    // Arguments are the module's inputs, then whatever else comes from outside.
    void call(const Frame& frame, const Nodes& nodes, Known& tensors) const {
        std::unordered_set<const NodeState*> own, used, taken;
        for (const Node& node : nodes) own.insert(key(node));
        Nodes candidates = frame.inputs;
        for (const Node& node : nodes)
            for (const Node& child : node.children()) {
                used.insert(key(child));
                if (!own.contains(key(child))) candidates.push_back(child);
            }
        auto body = std::make_shared<ir::Body>();
        body->name = frame.module;
        Tensors arguments;
        Known inside;
        for (size_t i = 0; i < candidates.size(); ++i) {
            const Node& node = candidates[i];
            if (!used.contains(key(node)) || !taken.insert(key(node)).second) continue;
            const Tensor& given = tensors.at(key(node));
            if (given.type().weak) {  // has no dtype of its own, so no placeholder
                inside.emplace(key(node), given);
                continue;
            }
            const std::string name = i < frame.names.size() ? frame.names[i] : node.name();
            body->parameters.push_back(ir::input(name, given.dtype(), given.shape()));
            inside.emplace(key(node), body->parameters.back());
            arguments.push_back(given);
        }
        Nodes results;  // what is used after this call
        for (const Node& node : nodes)
            if (last_use_.at(key(node)) > nodes.back().state().number) results.push_back(node);
        items(nodes, frame.depth + 1, inside);
        for (const Node& node : results) body->results.push_back(inside.at(key(node)));
        const Tensors made = ops::call(body, arguments);
        for (size_t i = 0; i < results.size(); ++i) tensors.emplace(key(results[i]), made[i]);
    }

    std::unordered_map<const NodeState*, int64_t> last_use_;
};

}  // namespace

Array Node::value() const { return execute::evaluate({tensor()}, {})[0]; }

Nodes ModuleGraph::nodes() const { return ordered(root_); }

Tensor ModuleGraph::tensor() const {
    Tensors own;
    for (const Node& input : inputs_) own.push_back(input.tensor());
    return tensor_of(own);
}

Tensor ModuleGraph::tensor_of(const Tensors& inputs) const {
    Known tensors;
    for (size_t i = 0; i < inputs.size(); ++i) tensors.emplace(key(inputs_[i]), inputs[i]);
    Nodes inner;
    const Nodes every = nodes();
    for (const Node& node : every)
        if (is_leaf(node))
            tensors.emplace(key(node), node.tensor());
        else
            inner.push_back(node);
    Replay(every, root_).items(inner, 0, tensors);
    return tensors.at(key(root_));
}

execute::Compiled ModuleGraph::compile(const execute::Options& options) const {
    Tensors placeholders;
    for (const Node& input : inputs_)
        placeholders.push_back(
            ir::input(input.name(), input.tensor().dtype(), input.tensor().shape()));
    const auto function = [this](const Tensors& given) { return Tensors{tensor_of(given)}; };
    return compile_function(function, placeholders, options, module_);
}

void ModuleGraph::back() {
    const ir::DType dtype = root_.tensor().dtype();
    user_check<TypeError>(ir::is_floating(dtype), module_, " has no derivative: the result is ",
                          dtype,
                          ". A floating dtype is required, of inputs and parameters such as 3.0.");
    Nodes smooth;
    Tensors tensors;
    const Nodes every = nodes();
    // Leaves of their own: a tensor that is given twice has a derivative for each.
    Tensors apart, given;
    Known replayed;
    for (const Node& node : every) {
        if (is_leaf(node) && node.tensor().type().weak) {
            replayed.emplace(key(node), node.tensor());
        } else if (is_leaf(node)) {
            apart.push_back(ir::input(node.name(), node.tensor().dtype(), node.tensor().shape()));
            given.push_back(node.tensor());
            replayed.emplace(key(node), apart.back());
        } else {
            replayed.emplace(key(node), applied(node, replayed));
        }
        if (!ir::is_inexact(node.tensor().dtype())) continue;
        smooth.push_back(node);
        tensors.push_back(replayed.at(key(node)));
    }
    const Tensors made = ir::substitute(jacobians(replayed.at(key(root_)), tensors), apart, given);
    for (size_t i = 0; i < smooth.size(); ++i) smooth[i].state().gradient = made[i];
    has_gradients_ = true;
}

Tensor ModuleGraph::grad(const InputRef& input) const {
    user_check(input != nullptr, "grad: the input is empty. One of ", module_, " is required.");
    const auto is_it = [&](const Node& node) { return node.input() == input; };
    const Nodes every = nodes();
    const auto found = std::ranges::find_if(every, is_it),
               own = std::ranges::find_if(inputs_, is_it);
    const bool is_used = found != every.end();
    Tensor value;  // what it is differentiated by; empty for those of others
    if (is_used)
        value = found->tensor();
    else if (own != inputs_.end())
        value = own->tensor();
    else if (std::ranges::count(parameters_, input) != 0)
        value = input->value();
    user_check(static_cast<bool>(value), "grad: '", input->name(), "' is no input of this call of ",
               module_, ". One of the module, or one that the result depends on, is required.");
    user_check(has_gradients_, "grad: the call of ", module_,
               " has no derivative with respect to '", input->name(),
               "' yet. back() is required before.");
    user_check<TypeError>(ir::is_inexact(value.dtype()), "grad: ", module_,
                          " has no derivative with respect to '", input->name(), "', which is ",
                          value.dtype(), ". A floating or complex dtype is required.");
    if (is_used) return found->gradient();
    ir::Shape shape = root_.tensor().shape();
    shape.insert(shape.end(), value.shape().begin(), value.shape().end());
    return ops::full(shape, ir::constant(Array::zeros(value.dtype(), {})));
}

}  // namespace composit::cg
