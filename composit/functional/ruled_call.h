// Calls of functions that have their own rules, for derivatives and batches, in place of the rules
// of their bodies.
#pragma once

#include "composit/ir/node.h"

#include <memory>
#include <string>
#include <vector>

namespace composit {

// How transforms treat a call, in place of its body. A transform that meets the call asks the
// rules, with the tensors of that moment; empty tensors stand for zeros.
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
    // The outputs, each with a leading axis, for inputs that have one where batched[i]. If empty,
    // the body is batched, and the result has the rules rules_of_batch.
    virtual Tensors batch(const Tensors& inputs, const std::vector<bool>& batched,
                          int64_t size) const = 0;
    virtual std::shared_ptr<const Rules> rules_of_batch(const std::vector<bool>& batched,
                                                        int64_t size) const = 0;
};

// Applies a graph, given by its parameters and results, to arguments, with its own rules. Tensors
// that the graph uses beside its parameters get no gradient. Exceptions of rules pass unchanged.
//   name: of the node
//   parameters: inputs (ir::input) of the arguments' types
[[nodiscard]] std::vector<ir::Tensor> ruled_call(const std::string& name,
                                                 const std::vector<ir::Tensor>& parameters,
                                                 const std::vector<ir::Tensor>& results,
                                                 const std::vector<ir::Tensor>& arguments,
                                                 std::shared_ptr<const Rules> rules);

// The tensors with each ruled call replaced by its body. For graphs that no transform will see: no
// two ruled calls have the same structure, so a plan of one is never found for another.
[[nodiscard]] std::vector<ir::Tensor> without_rules(const std::vector<ir::Tensor>& tensors);

}  // namespace composit
