// Derivatives as module graphs have them: whole Jacobians, and calls with a derivative of their
// own.
#pragma once

#include "composit/ir/body.h"
#include "composit/ir/node.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace composit::cg {

using ir::Tensor;
using Tensors = std::vector<Tensor>;

// The Jacobian of `output` with respect to each input, of the shape output.shape + input.shape: for
// a 0-d output its gradient. Zeros where the output does not depend on an input. TypeError unless
// it is of a floating dtype, and the inputs of inexact ones.
[[nodiscard]] Tensors jacobians(const Tensor& output, const Tensors& inputs);

// A call whose derivative is given: `pullback` takes the arguments, then a cotangent for each
// result of `body`, to a gradient for each argument. Its own derivative is that of its body. Where
// given, only the first `differentiable` arguments have a gradient.
[[nodiscard]] Tensors call_with_pullback(std::shared_ptr<const ir::Body> body,
                                         std::shared_ptr<const ir::Body> pullback,
                                         const Tensors& arguments,
                                         std::optional<int64_t> differentiable = {});

// `values` as they are, as results of `name` called with `inputs`: their derivative is `gradients`,
// one for each input and of its type, which depend on `cotangents`, placeholders for what flows in,
// one for each value; no other gradient flows through the values.
[[nodiscard]] Tensors with_pullback(const std::string& name, const Tensors& inputs,
                                    const Tensors& values, const Tensors& cotangents,
                                    const Tensors& gradients);

// The values as they are; NotSupported with this message where they are differentiated.
[[nodiscard]] Tensor refuse_gradient(const Tensor& x, const std::string& message);

// The part of an input x, of x's shape, from the cotangent of a result and the result's derivative
// `local`: the Jacobian, of shape result.shape + x.shape, or the derivative of each element, which
// broadcasts to the result, as x does. ValueError for other shapes: `function`, `input`.
[[nodiscard]] Tensor pulled(const std::string& function, const std::string& input,
                            const Tensor& cotangent, const Tensor& local, const Tensor& x);

// The operations, registered: front ends that look operations up by name call this first.
void register_operations();

}  // namespace composit::cg
