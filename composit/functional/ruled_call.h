// Functions that bring rules of their own: a derivative, a batch, which are not those of their
// bodies.
#pragma once

#include "composit/ir/node.h"

#include <memory>
#include <string>
#include <vector>

namespace composit {

// What is done with a call instead of what its body says. Rules are asked when a transform meets
// the call, with the tensors that it has then; empty tensors stand for zeros.
class Rules {
  public:
    using Tensors = std::vector<ir::Tensor>;

    Rules() = default;
    Rules(const Rules&) = delete;
    Rules& operator=(const Rules&) = delete;
    virtual ~Rules() = default;

    // One gradient per input, for one per output.
    virtual Tensors vjp(const Tensors& inputs, const Tensors& outputs,
                        const Tensors& gradients) const = 0;
    // One tangent per output, for one per input.
    virtual Tensors jvp(const Tensors& inputs, const Tensors& outputs,
                        const Tensors& tangents) const = 0;
    // The outputs, all with a leading axis, over inputs with one where batched[i]. Empty: those of
    // the body, and the rules of the result are rules_of_batch.
    virtual Tensors batch(const Tensors& inputs, const std::vector<bool>& batched,
                          int64_t size) const = 0;
    virtual std::shared_ptr<const Rules> rules_of_batch(const std::vector<bool>& batched,
                                                        int64_t size) const = 0;
};

// The results of a graph over parameters, of arguments instead, with rules of their own. What the
// graph uses beside its parameters has no derivative. Rules that throw are reported as they do.
//   name: of the node
//   parameters: inputs (ir::input) of the arguments' types
[[nodiscard]] std::vector<ir::Tensor> ruled_call(const std::string& name,
                                                 const std::vector<ir::Tensor>& parameters,
                                                 const std::vector<ir::Tensor>& results,
                                                 const std::vector<ir::Tensor>& arguments,
                                                 std::shared_ptr<const Rules> rules);

// The tensors without rules: calls are what their bodies say. For graphs that no transform will
// see, as each ruled call has a structure of its own, which no plan is found by.
[[nodiscard]] std::vector<ir::Tensor> without_rules(const std::vector<ir::Tensor>& tensors);

}  // namespace composit
