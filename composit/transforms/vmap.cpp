// A function of one slice becomes a function of all slices, by the batch rule of each operation.
#include "composit/base/error.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

#include <unordered_map>

namespace composit::transforms {
namespace {

using ir::Node;

int64_t checked_batch_size(const std::vector<Tensor>& inputs, const std::vector<Tensor>& batched) {
    user_check<TypeError>(inputs.size() == batched.size(), "vmap: ", inputs.size(), " inputs and ",
                          batched.size(), " batched tensors given. One for each is required.");
    user_check(!inputs.empty(), "vmap: no input is batched. At least one is required.");
    for (size_t i = 0; i < inputs.size(); ++i) {
        const Tensor &x = inputs[i], &b = batched[i];
        const bool fits = b.rank() == x.rank() + 1 && b.dtype() == x.dtype() &&
                          ir::Shape(b.shape().begin() + 1, b.shape().end()) == x.shape();
        user_check(fits, "vmap: batched input ", i, " has type ", b.type(), ". The type ", x.type(),
                   " with a leading axis is required.");
        user_check(b.shape()[0] == batched[0].shape()[0], "vmap: leading axes differ: input 0 has ",
                   batched[0].shape()[0], ", input ", i, " has ", b.shape()[0],
                   ". Equal lengths are required.");
    }
    return batched[0].shape()[0];
}

class Batching {
  public:
    Batching(const std::vector<Tensor>& inputs, const std::vector<Tensor>& batched)
        : size_(checked_batch_size(inputs, batched)) {
        for (size_t i = 0; i < inputs.size(); ++i) {
            auto& outputs = batched_[&inputs[i].node()];
            outputs.resize(static_cast<size_t>(inputs[i].node().output_count()));
            outputs[static_cast<size_t>(inputs[i].output_index())] = batched[i];
        }
    }

    // The tensor with the leading axis; empty when it does not depend on the inputs.
    Tensor find(const Tensor& tensor) const {
        const auto found = batched_.find(&tensor.node());
        return found == batched_.end() ? Tensor()
                                       : found->second[static_cast<size_t>(tensor.output_index())];
    }

    void visit(const Node& node) {
        std::vector<Tensor> operands;
        std::vector<bool> is_batched;
        bool any = false;
        for (const Tensor& operand : node.operands()) {
            const Tensor with_axis = find(operand);
            is_batched.push_back(static_cast<bool>(with_axis));
            any = any || is_batched.back();
            operands.push_back(with_axis ? with_axis : operand);
        }
        if (!any) return;
        user_check<NotSupported>(
            static_cast<bool>(ir::batch_of(node)), "vmap: ", label(node),
            node.location().empty() ? "" : " of " + node.location(), " has no batching rule",
            label(node) == node.operation().name ? ""
                                                 : " (operation " + node.operation().name + ")",
            ". Operations with one are required.");
        const ir::LocationScope scope(node);
        std::vector<Tensor> results = ir::batch_of(node)(node, operands, is_batched, size_);
        check_results(node, results);
        auto& outputs = batched_[&node];
        outputs.resize(results.size());
        for (size_t i = 0; i < results.size(); ++i)  // an input of vmap keeps what it was given
            if (!outputs[i]) outputs[i] = std::move(results[i]);
    }

    Tensor with_axis(const Tensor& tensor) const {
        if (Tensor found = find(tensor)) return found;
        ir::Shape shape{size_};
        shape.insert(shape.end(), tensor.shape().begin(), tensor.shape().end());
        return ops::broadcast_to(tensor, shape);
    }

  private:
    // Rules come from users too.
    void check_results(const Node& node, const std::vector<Tensor>& results) const {
        user_check(results.size() == node.types().size(), "vmap: the batching rule of ",
                   node.operation().name, " gave ", results.size(), " results. ",
                   node.types().size(), " are required.");
        for (size_t i = 0; i < results.size(); ++i) {
            ir::Shape shape{size_};
            const ir::TensorType& type = node.types()[i];
            shape.insert(shape.end(), type.shape.begin(), type.shape.end());
            user_check(results[i].shape() == shape && results[i].dtype() == type.dtype,
                       "vmap: the batching rule of ", node.operation().name, " gave ",
                       results[i].type(), ". ", ir::TensorType{shape, type.dtype}, " is required.");
        }
    }

    int64_t size_;
    std::unordered_map<const Node*, std::vector<Tensor>> batched_;
};

}  // namespace

std::vector<Tensor> vmap(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const std::vector<Tensor>& batched) {
    std::vector<Tensor> all = outputs;
    all.insert(all.end(), inputs.begin(), inputs.end());
    all = inline_calls(all, [](const Node& node) { return bool(ir::batch_of(node)); });
    const auto last_output = all.begin() + static_cast<long>(outputs.size());
    const std::vector<Tensor> results(all.begin(), last_output), sources(last_output, all.end());
    Batching batching(sources, batched);
    for (const Node* node : ir::topological_order(results)) batching.visit(*node);
    std::vector<Tensor> with_axes;
    for (const Tensor& result : results) with_axes.push_back(batching.with_axis(result));
    return with_axes;
}

ir::Body batched_body(const ir::Body& body, const std::vector<bool>& batched, int64_t size) {
    ir::Body made{body.name, {}, {}};
    std::vector<Tensor> from, to;
    for (size_t i = 0; i < body.parameters.size(); ++i) {
        const Tensor& parameter = body.parameters[i];
        if (!batched[i]) {
            made.parameters.push_back(parameter);
            continue;
        }
        ir::Shape shape = parameter.shape();
        shape.insert(shape.begin(), size);
        made.parameters.push_back(ir::input(parameter.name(), parameter.dtype(), shape));
        from.push_back(parameter);
        to.push_back(made.parameters.back());
    }
    made.results = vmap(body.results, from, to);
    return made;
}

}  // namespace composit::transforms
