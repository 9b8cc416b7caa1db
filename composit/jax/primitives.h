// JAX's primitives as operations of graphs: what programs consist of that JAX has traced.
//
//   jax::apply("dot_general", {a, b}, {{"contracting_a", Axes{1}}, …})
//
// Operands and results have JAX's dtypes and shapes; keys of random numbers are composit's, uint64.
// Parameters have JAX's names; those that are records have a name for each part
// ("dimension_numbers.offset_dims"). Control flow, whose parameters are programs, is the caller's.
#pragma once

#include "composit/ir/attribute.h"
#include "composit/ir/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace composit::jax {

// NotSupported: "jax: no primitive …" with near names; what a primitive does not do here is refused
// by name as well.
[[nodiscard]] std::vector<ir::Tensor> apply(std::string_view primitive,
                                            const std::vector<ir::Tensor>& operands,
                                            const ir::Attributes& parameters);
[[nodiscard]] std::vector<std::string> names();  // of all primitives, in order
[[nodiscard]] bool knows(std::string_view primitive);

}  // namespace composit::jax
